"""SoftmaxWithLoss: softmax and the negative log of the labelled class's probability."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss, class_numbers, fold_classes, places
from pycaffe_dist.layers.softmax import softmax

LEAST = float(np.finfo(np.float32).tiny)  # probabilities below it count as this: a loss of 87.3365


@register("SoftmaxWithLoss")
class SoftmaxWithLoss(Loss):
    """−1/n Σ log p[label] over all positions, p = softmax of the scores x;  ∂x = (p − [label])/n.

    x: (N, C, ...) with the classes on softmax_param's ``axis``  labels: (N, ...)
    n by loss_param's ``normalization``; positions with ``ignore_label`` do not count.
    Tops: the loss and, if wanted, p, which takes no gradient.
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.check(
            not any(self.layer_param.loss_weight[1:]),
            "its second top, the probabilities, cannot have a loss_weight other than 0",
        )
        # Caffe has a layer within for the probabilities, and logs it.
        log.info("layer_factory.hpp:77", "Creating layer %s", self.name)
        self.prob = self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        self.folded = fold_classes(self, bottom, self.layer_param.softmax_param.axis)
        self.prob.reshape_like(bottom[0])
        for view in top[1:]:
            view.reshape_like(bottom[0])
            view.share_data(self.prob)

    def forward(self, bottom: Views, top: Views) -> None:
        own, counted = self.gains(bottom)
        top[0].data[...] = 0 - own.sum() / self.normalizer(self.folded, counted)  # never −0

    def gains(self, bottom: Views) -> tuple[Array, Array | None]:
        """log p[label] at every position (outer, inner), 0 where it does not count; which do."""
        xp, p = self.xp, self.prob.data.reshape(self.folded)
        self.probabilities(bottom[0].data.reshape(self.folded), out=p)
        labels, counted = self.labels(bottom)
        own = p.reshape(-1)[places(xp, labels, self.folded)]
        xp.maximum(own, self.dtype.type(LEAST), out=own)
        xp.log(own, out=own)
        if counted is not None:
            xp.copyto(own, 0, where=~counted)
        return own, counted

    def probabilities(self, x: Array, out: Array) -> None:
        softmax(self.xp, x, out=out)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        labels, counted = self.labels(bottom)
        gx = bottom[0].diff.reshape(self.folded)
        gx[...] = self.prob.data.reshape(self.folded)
        gx.reshape(-1)[places(self.xp, labels, self.folded)] -= 1
        gx *= self.position_weights(top, self.folded, counted)

    def flops(self, bottom: Views, top: Views) -> int:
        return 4 * bottom[0].count

    def labels(self, bottom: Views) -> tuple[Array, Array | None]:
        return class_numbers(self, bottom[1], self.folded, self.ignored_label())
