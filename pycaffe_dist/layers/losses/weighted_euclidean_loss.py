"""WeightedEuclideanLoss."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.euclidean_loss import EuclideanLoss


@register("WeightedEuclideanLoss")
class WeightedEuclideanLoss(EuclideanLoss):
    """1/2N Σ w·(a − b)²;  ∂a = w·(a − b)/N, ∂b = −∂a, none for w.

    a, b: (N, …) of as many values  w: as many, or one for each item.  No source of this layer is
    known; this is what its name and its bottoms say.
    """

    bottoms = 3
    label_bottoms = (2,)

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        items, values = bottom[0].shape[0], bottom[0].count
        self.check(
            bottom[2].count in (items, values),
            f"needs {values} weights, or {items}, one for each item; found {bottom[2].shape}",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        d = self.difference.data
        top[0].data[...] = (d * d * self._weights(bottom)).sum() / self.num / 2

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        super().backward(top, propagate_down[:2], bottom[:2])
        for view, wanted in zip(bottom[:2], propagate_down, strict=False):
            if wanted:
                gradient = view.diff.reshape(self.difference.shape)
                gradient *= self._weights(bottom)

    def _weights(self, bottom: Views) -> Array:
        shape, weights = self.difference.shape, bottom[2]
        ones = (shape[0], *[1] * (len(shape) - 1))
        return weights.data.reshape(shape if weights.count == self.difference.count else ones)
