"""MultinomialLogisticLoss: the negative log of the labelled class's probability."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import OneLabelLoss, class_numbers, places

LEAST = 1e-20  # probabilities below it count as this


@register("MultinomialLogisticLoss")
class MultinomialLogisticLoss(OneLabelLoss):
    """−1/N Σ log p[label];  ∂p[label] = −1/(N p[label]), 0 elsewhere.

    p: (N, K), probabilities  labels: (N,)
    """

    def forward(self, bottom: Views, top: Views) -> None:
        _, p = self._labelled(bottom)
        top[0].data[...] = 0 - self.xp.log(p).sum() / max(1, self.num)  # never −0

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            at, p = self._labelled(bottom)
            gx = bottom[0].diff.reshape(-1)
            gx[...] = 0
            gx[at] = -self.scaled_weight(top, max(1, self.num)) / p

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * self.num

    def _labelled(self, bottom: Views) -> tuple[Array, Array]:
        """Where in the flat bottom each item's labelled class is, and its probability."""
        folded = self.num, bottom[0].count_from(1), 1
        labels, _ = class_numbers(self, bottom[1], folded)
        at = places(self.xp, labels, folded)
        return at, self.xp.maximum(bottom[0].data.reshape(-1)[at], self.dtype.type(LEAST))
