"""SoftmaxCrossEntropyLoss."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.softmax import softmax
from pycaffe_dist.layers.softmax_loss import LEAST


@register("SoftmaxCrossEntropyLoss")
class SoftmaxCrossEntropyLoss(Loss):
    """1/N Σ t·(log t − log p) where t > 0, p the softmax of scores x over axis 1;  ∂x = (p − t)/N.

    x and t: (N, C, …), t a distribution over the classes at each place
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.prob = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        x = bottom[0]
        self.check(
            len(x.shape) > 1 and x.count == bottom[1].count,
            f"needs a target for each score, found {x.shape} and {bottom[1].shape}",
        )
        self.num = max(1, x.shape[0])
        self.folded = (x.shape[0], x.shape[1], x.count_from(2))
        self.prob.reshape(*self.folded)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, p, t = self.xp, self.prob.data, bottom[1].data.reshape(self.folded)
        softmax(xp, bottom[0].data.reshape(self.folded), out=p)
        least = self.dtype.type(LEAST)
        ratio = xp.log(xp.maximum(t, least)) - xp.log(xp.maximum(p, least))
        terms = xp.where(t > 0, t * ratio, self.dtype.type(0))
        top[0].data[...] = terms.sum() / self.num

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(self.folded)
            self.xp.subtract(self.prob.data, bottom[1].data.reshape(self.folded), out=gx)
            gx *= self.scaled_weight(top, self.num)
