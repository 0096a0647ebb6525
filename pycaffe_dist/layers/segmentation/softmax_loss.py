"""SoftmaxWithLoss of SegNet, with a weight for each class."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


def _segnet(param: LayerParameter) -> bool:
    p = param.loss_param
    return p.weight_by_label_freqs or len(p.class_weighting) > 0


@register(
    "SoftmaxWithLoss",
    dialect="segnet",
    when=_segnet,
    why="loss_param has weight_by_label_freqs or class_weighting",
)
class WeightedSoftmaxWithLoss(SoftmaxWithLoss):
    """SoftmaxWithLoss of SegNet: −1/n Σ w[label]·log p[label];  ∂x = w[label]·(p − [label])/n.

    w is ``class_weighting``, a number for each class; without ``weight_by_label_freqs`` it is 1, as
    in SegNet.  n counts positions, not their weights.
    """

    fork_fields = ("LossParameter.weight_by_label_freqs", "LossParameter.class_weighting")

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.loss_param
        self.given = list(p.class_weighting) if p.weight_by_label_freqs else None

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        classes = self.folded[1]
        weights = [1.0] * classes if self.given is None else self.given
        self.check(
            len(weights) == classes,
            f"{len(weights)} class_weighting for {classes} classes; give one for each",
        )
        self.weights = self.xp.asarray(np.array(weights, self.dtype))

    def gains(self, bottom: Views) -> tuple[Array, Array | None]:
        own, counted = super().gains(bottom)
        own *= self.weights[self.labels(bottom)[0]]
        return own, counted

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(self.folded)
            gx *= self.weights[self.labels(bottom)[0]][:, None]
