"""SoftmaxWithLoss with happynear's ``normalize_type``."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.layer import register
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss

EPS = 1e-6


@register(
    "SoftmaxWithLoss",
    dialect="happynear",
    when=lambda p: p.softmax_param.normalize_type in ("L1", "L2"),
    why="softmax_param has normalize_type L1 or L2",
)
class NormalizedWithLoss(SoftmaxWithLoss):
    """−1/n Σ log p[label], p = x/‖x‖ in place of a softmax, by ``normalize_type`` L1 or L2.

    ∂x = (p − [label])/n as if it were one; it is not the derivative.
    """

    fork_fields = ("SoftmaxParameter.normalize_type",)

    def probabilities(self, x: Array, out: Array) -> None:
        xp, eps = self.xp, self.dtype.type(EPS)
        kind = self.layer_param.softmax_param.normalize_type
        if kind == "L1":
            xp.divide(x, abs(x).sum(axis=1, keepdims=True) + eps, out=out)
        elif kind == "L2":
            xp.divide(x, xp.sqrt(xp.square(x).sum(axis=1, keepdims=True) + eps), out=out)
        else:
            super().probabilities(x, out)
