"""Losses and Accuracy.  Everything stays on the device, divisors and weights too."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates, split
from pycaffe_dist.engines.cupy.layers.normalise import softmax
from pycaffe_dist.layers.accuracy import Accuracy
from pycaffe_dist.layers.contrastive_loss import ContrastiveLoss
from pycaffe_dist.layers.euclidean_loss import EuclideanLoss
from pycaffe_dist.layers.hinge_loss import HingeLoss
from pycaffe_dist.layers.infogain_loss import InfogainLoss
from pycaffe_dist.layers.loss import Folded, Loss, wrong_label
from pycaffe_dist.layers.multinomial_logistic_loss import MultinomialLogisticLoss
from pycaffe_dist.layers.sigmoid_cross_entropy_loss import SigmoidCrossEntropyLoss
from pycaffe_dist.layers.softmax_loss import SoftmaxWithLoss
from pycaffe_dist.proto.caffe_pb2 import LossParameter

Ignored = tuple[int, int]  # whether there is an ignored label, and which


def as_ignored(label: int | None) -> Ignored:
    return (0, 0) if label is None else (1, label)


def check_labels(layer: Any, view: View, classes: int, ignored: int | None = None) -> None:
    """Have labels checked on the device; what is wrong is told when results are read."""

    def message(value: float, at: int) -> str:
        return wrong_label(value, np.unravel_index(at, view.shape), classes, ignored)

    layer.engine.check_numbers(layer, view.data, classes, message, *as_ignored(ignored))


class DeviceLoss(OnDevice, Loss):
    """A term for each position, then their sum over a divisor, which backward uses again."""

    def total(self, terms: DeviceArray, labels: DeviceArray, folded: Folded, top: Views) -> None:
        """Put Σ terms / divisor into the top."""
        ignored = as_ignored(self.ignored_label())
        fixed, splits = self._fixed(folded), split(terms.size, 1)
        sums = [self.spare(name, (splits,)) for name in ("partial", "counts")]
        sizes = terms.size, fixed == 0, *ignored
        self.launch("loss_sums", splits, *sizes, labels, terms, *sums)
        divisor = self.kept("divisor", (1,))
        self.launch("loss_total", 1, splits, fixed, *sums, top[0].data, divisor)

    def _fixed(self, folded: Folded) -> int:
        """The divisor, 0 if it is the number of labels that count."""
        outer, _, inner = folded
        mode = self.normalization()
        if mode == LossParameter.NONE:
            return 1
        if mode == LossParameter.BATCH_SIZE:
            return max(1, outer)
        if mode == LossParameter.VALID and self.ignored_label() is not None:
            return 0
        return max(1, outer * inner)

    def mean_of(self, terms: DeviceArray, count: int, top: Views, factor: float = 1.0) -> None:
        """Put factor · Σ terms / count into the top."""
        shape = 1, 1, terms.size
        scale = factor / max(1, count)
        self.sums("channel_sums", shape, terms, out=top[0].data, scale=scale)


@accelerates("SoftmaxWithLoss")
class DeviceSoftmaxWithLoss(DeviceLoss, SoftmaxWithLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        outer, classes, inner = self.folded
        prob, labels = self.prob.data, bottom[1].data
        check_labels(self, bottom[1], classes, self.ignored_label())
        softmax(self, self.folded, bottom[0].data, prob)
        terms = self.spare("terms", (outer * inner,))
        ignored = as_ignored(self.ignored_label())
        sizes = classes, inner, *ignored
        self.launch("softmax_loss_terms", terms.size, *sizes, prob, labels, terms)
        self.total(terms, labels, self.folded, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if not propagate_down[0]:
            return
        _, classes, inner = self.folded
        gx, weight, divisor = bottom[0].diff, top[0].diff, self.kept("divisor", (1,))
        sizes = classes, inner, *as_ignored(self.ignored_label())
        arrays = self.prob.data, bottom[1].data, weight, divisor, gx
        self.launch("softmax_loss_backward", gx.size, *sizes, *arrays)


@accelerates("InfogainLoss")
class DeviceInfogainLoss(DeviceLoss, InfogainLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        outer, classes, inner = self.folded
        prob, labels = self.prob.data, bottom[1].data
        check_labels(self, bottom[1], classes, self.ignored_label())
        softmax(self, self.folded, bottom[0].data, prob)
        terms = self.spare("terms", (outer * inner,))
        sizes = classes, inner, *as_ignored(self.ignored_label())
        arrays = self._gains(bottom).data, prob, labels, terms
        self.launch("infogain_loss_terms", terms.size, *sizes, *arrays)
        self.total(terms, labels, self.folded, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        self.check(not any(propagate_down[2:]), "cannot give its matrix of gains a gradient")
        if not propagate_down[0]:
            return
        _, classes, inner = self.folded
        gains, row_sums = self._gains(bottom).data, self.spare("gain sums", (classes,))
        self.sums("channel_sums", (1, classes, classes), gains, out=row_sums)
        sizes = classes, inner, *as_ignored(self.ignored_label())
        gx, weight, divisor = bottom[0].diff, top[0].diff, self.kept("divisor", (1,))
        arrays = gains, row_sums, self.prob.data, bottom[1].data, weight, divisor, gx
        self.launch("infogain_loss_backward", gx.size, *sizes, *arrays)


@accelerates("MultinomialLogisticLoss")
class DeviceMultinomialLogisticLoss(DeviceLoss, MultinomialLogisticLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        classes = bottom[0].count_from(1)
        check_labels(self, bottom[1], classes)
        terms = self.spare("terms", (self.num,))
        arrays = bottom[0].data, bottom[1].data, terms
        self.launch("multinomial_loss_terms", self.num, classes, *arrays)
        self.mean_of(terms, self.num, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            gx, factor = bottom[0].diff, 1 / max(1, self.num)
            arrays = bottom[0].data, bottom[1].data, top[0].diff, gx
            classes = bottom[0].count_from(1)
            self.launch("multinomial_loss_backward", gx.size, classes, factor, *arrays)


@accelerates("SigmoidCrossEntropyLoss")
class DeviceSigmoidCrossEntropyLoss(DeviceLoss, SigmoidCrossEntropyLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        x, targets = bottom[0].data, bottom[1].data
        terms = self.spare("terms", (x.size,))
        ignored = as_ignored(self.ignored_label())
        self.launch("sigmoid_loss_terms", x.size, *ignored, x, targets, terms)
        self.total(terms, targets, self.folded, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            gx, weight, divisor = bottom[0].diff, top[0].diff, self.kept("divisor", (1,))
            ignored = as_ignored(self.ignored_label())
            arrays = bottom[0].data, bottom[1].data, weight, divisor, gx
            self.launch("sigmoid_loss_backward", gx.size, *ignored, *arrays)


@accelerates("HingeLoss")
class DeviceHingeLoss(DeviceLoss, HingeLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        h, classes = bottom[0].diff, bottom[0].count_from(1)
        check_labels(self, bottom[1], classes)
        self.launch("hinge_loss_margins", h.size, classes, bottom[0].data, bottom[1].data, h)
        shape, scale = (1, 1, h.size), 1 / max(1, self.num)
        if self.squared:
            self.sums("channel_dots", shape, h, h, out=top[0].data, scale=scale)
        else:
            self.sums("channel_sums", shape, h, out=top[0].data, scale=scale)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            gx, factor = bottom[0].diff, 1 / max(1, self.num)
            settings = bottom[0].count_from(1), self.squared, factor
            arrays = bottom[1].data, top[0].diff, gx, gx
            self.launch("hinge_loss_backward", gx.size, *settings, *arrays)


@accelerates("EuclideanLoss")
class DeviceEuclideanLoss(DeviceLoss, EuclideanLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        d = self.difference.data
        self.launch("subtract", d.size, bottom[0].data, bottom[1].data, d)
        shape = 1, 1, d.size
        self.sums("channel_dots", shape, d, d, out=top[0].data, scale=0.5 / self.num)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        d, weight = self.difference.data, top[0].diff
        for view, wanted, sign in zip(bottom, propagate_down, (1, -1), strict=True):
            if wanted:
                self.launch("scale_by", d.size, sign / self.num, weight, d, view.diff)


@accelerates("ContrastiveLoss")
class DeviceContrastiveLoss(DeviceLoss, ContrastiveLoss):
    def forward(self, bottom: Views, top: Views) -> None:
        d = self.difference.data
        pairs, channels = d.shape
        self.launch("subtract", d.size, bottom[0].data, bottom[1].data, d)
        squares, terms = self.kept("squares", (pairs,)), self.spare("terms", (pairs,))
        settings = channels, self.margin, self.legacy
        arrays = d, bottom[2].data, squares, terms
        self.launch("contrastive_loss_terms", pairs, *settings, *arrays)
        self.mean_of(terms, pairs, top, 0.5)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        d = self.difference.data
        pairs, channels = d.shape
        squares = self.kept("squares", (pairs,))
        for i, sign in enumerate((1, -1)):
            if propagate_down[i]:
                settings = channels, self.margin, self.legacy, sign / max(1, pairs)
                arrays = d, squares, bottom[2].data, top[0].diff, bottom[i].diff
                self.launch("contrastive_loss_backward", d.size, *settings, *arrays)


@accelerates("Accuracy")
class DeviceAccuracy(OnDevice, Accuracy):
    def forward(self, bottom: Views, top: Views) -> None:
        outer, classes, inner = self.folded
        scores, labels = bottom[0].data, bottom[1].data
        check_labels(self, bottom[1], classes, self.ignored)
        hits = self.kept("hits", (outer * inner,), np.int32)
        ignored = as_ignored(self.ignored)
        sizes = classes, inner, self.top_k, *ignored
        self.launch("accuracy_hits", hits.size, *sizes, scores, labels, hits)
        for by_class, view in enumerate(top):  # of all labels, and of each class
            rows = classes if by_class else 1
            splits = split(hits.size, rows)
            sums = [self.spare(name, (rows * splits,)) for name in ("partial", "counts")]
            sizes = splits, hits.size, by_class, *ignored
            self.launch("accuracy_sums", rows * splits, *sizes, labels, hits, *sums)
            self.launch("accuracy_total", rows, splits, *sums, view.data)
