"""HED's SigmoidCrossEntropyLoss, in which the rare pixels of edges count as much as all others."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.sigmoid_cross_entropy_loss import SigmoidCrossEntropyLoss


@register(
    "SigmoidCrossEntropyLoss",
    dialect="hed",
    when=lambda p: False,
    why="only if asked for, since nothing in a layer tells",
)
class BalancedSigmoidCrossEntropyLoss(SigmoidCrossEntropyLoss):
    """1/N Σ w·(cross entropy of σ(x) and t);  ∂x = w·(σ(x) − t)/N.

    In each image w is the share of targets 0 where t is 1, and the share of targets 1 where t is 0;
    other targets count 0 in the loss and 1 in the gradient.
    """

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        weights, known = self._weights(bottom[1].data.reshape(self.terms.shape))
        terms = self.terms.data * weights * known
        top[0].data[...] = terms.sum() / max(1, self.terms.shape[0])

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)
        if propagate_down[0]:
            weights, _ = self._weights(bottom[1].data.reshape(self.terms.shape))
            gx = bottom[0].diff
            gx *= weights

    def ignored_label(self) -> None:
        """There is none."""

    def normalization(self) -> int:
        return self.default_normalization

    def _weights(self, t: Array) -> tuple[Array, Array]:
        """W, and where t is 0 or 1."""
        axes = tuple(range(1, t.ndim))
        edge, plain = ((t == value).astype(self.dtype) for value in (1, 0))
        edges, plains = (a.sum(axis=axes, keepdims=True) for a in (edge, plain))
        both = self.xp.maximum(edges + plains, 1)
        known = edge + plain
        return edge * (plains / both) + plain * (edges / both) + (1 - known), known
