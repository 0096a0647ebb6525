"""SoftmaxWithLoss with happynear's ``normalize_type``, or R-FCN's fixed divisor."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rcnn.ohem import FixedNormalizer
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.proto.caffe_pb2 import LossParameter

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


@register(
    "SoftmaxWithLoss",
    dialect="rfcn",
    when=lambda p: p.loss_param.normalization == LossParameter.PRE_FIXED,
    why="loss_param has normalization: PRE_FIXED",
)
class FixedSoftmaxWithLoss(FixedNormalizer, SoftmaxWithLoss):
    """−1/n Σ log p[label], n = ``pre_fixed_normalizer``, at least 1;  ∂x = (p − [label])/n."""
