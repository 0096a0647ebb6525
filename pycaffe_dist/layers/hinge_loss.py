"""HingeLoss: one against all the others, with a margin of 1."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import OneLabelLoss, class_numbers, places
from pycaffe_dist.proto.caffe_pb2 import HingeLossParameter


@register("HingeLoss")
class HingeLoss(OneLabelLoss):
    """1/N Σ hᵖ, h = max(0, 1 − t·x), t = 1 for the labelled class and −1 for all others.

    x: (N, K)  labels: (N,)  p: 1 or 2
    ∂x = −t/N · sign(h) for L1, −2t/N · h for L2.  Between forward and backward, ∂x holds h.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.squared = self.layer_param.hinge_loss_param.norm == HingeLossParameter.L2

    def forward(self, bottom: Views, top: Views) -> None:
        xp, h = self.xp, bottom[0].diff
        h[...] = bottom[0].data
        self._negate_labelled(h, bottom)
        h += 1
        xp.maximum(h, 0, out=h)
        total = xp.vdot(h, h) if self.squared else h.sum()
        top[0].data[...] = total / max(1, self.num)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        gx = bottom[0].diff
        self._negate_labelled(gx, bottom)
        if not self.squared:
            self.xp.sign(gx, out=gx)
        gx *= self.scaled_weight(top, max(1, self.num)) * (2 if self.squared else 1)

    def _negate_labelled(self, array: Array, bottom: Views) -> None:
        folded = self.num, bottom[0].count_from(1), 1
        labels, _ = class_numbers(self, bottom[1], folded)
        array.reshape(-1)[places(self.xp, labels, folded)] *= -1
