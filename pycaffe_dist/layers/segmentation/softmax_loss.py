"""SoftmaxWithLoss of SegNet, with a weight for each class."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss


@register(
    "SoftmaxWithLoss",
    dialect="segnet",
    when=lambda param: len(param.loss_param.class_weighting) > 0,
    why="loss_param has class_weighting",
)
class WeightedSoftmaxWithLoss(SoftmaxWithLoss):
    """SoftmaxWithLoss of SegNet: −1/n Σ w[label]·log p[label];  ∂x = w[label]·(p − [label])/n.

    w is ``class_weighting``, a number for each class.  n counts positions, not their weights.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        given = list(self.layer_param.loss_param.class_weighting)
        self.weights = self.xp.asarray(np.array(given, self.dtype))

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.check(
            len(self.weights) == self.folded[1],
            f"{len(self.weights)} class_weighting for {self.folded[1]} classes; give one for each",
        )

    def gains(self, bottom: Views) -> tuple[Array, Array | None]:
        own, counted = super().gains(bottom)
        own *= self.weights[self.labels(bottom)[0]]
        return own, counted

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(self.folded)
            gx *= self.weights[self.labels(bottom)[0]][:, None]
