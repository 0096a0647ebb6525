"""SmoothL1Loss of SSD: squared near zero, absolute far from it."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.euclidean_loss import EuclideanLoss


def smooth_l1(xp: ArrayModule, d: Array) -> Array:
    """d²/2 where |d| < 1, |d| − 1/2 elsewhere; the derivative is d cut to [−1, 1]."""
    size = abs(d)
    return xp.where(size < 1, d * d / 2, size - 0.5)


@register("SmoothL1Loss", dialect="ssd")
class SmoothL1Loss(EuclideanLoss):
    """1/N Σ s(w·(a − b)), s(d) = d²/2 if |d| < 1, else |d| − 1/2;  ∂a = cut(d)/N,  ∂b = −∂a.

    A third bottom is w, 1 without it.  The gradient is not multiplied by w again, as in SSD.
    """

    bottoms = (2, 3)
    label_bottoms = (2,)

    def forward(self, bottom: Views, top: Views) -> None:
        d = self.difference.data
        self.xp.subtract(bottom[0].data, bottom[1].data.reshape(d.shape), out=d)
        for weights in bottom[2:]:
            self.check(
                weights.count == d.size, f"weights must be like the rest, found {weights.shape}"
            )
            d *= weights.data.reshape(d.shape)
        top[0].data[...] = smooth_l1(self.xp, d).sum() / self.num

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        d = self.xp.minimum(self.xp.maximum(self.difference.data, -1), 1)
        scale = self.scaled_weight(top, self.num)
        for view, wanted, factor in zip(bottom, propagate_down, (scale, -scale), strict=False):
            if wanted:
                self.xp.multiply(d, factor, out=view.diff.reshape(d.shape))
