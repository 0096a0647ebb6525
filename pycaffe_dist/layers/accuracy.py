"""Accuracy: how often the label is among the best scores."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.loss import class_numbers, fold_classes, places


@register("Accuracy")
class Accuracy(Layer):
    """The share of labels that have fewer than ``top_k`` other classes with the same score or more.

    scores: (N, C, ...) with the classes on ``axis``, labels: (N, ...), ignored ones do not count.
    Tops: a scalar, 0 if there are no labels; and, if wanted, (C,): the same for each class alone.
    With happynear's ``min_is_better`` the smallest scores are the best: distances.
    """

    fork_fields = ("AccuracyParameter.min_is_better",)

    bottoms = 2
    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.accuracy_param
        self.top_k = p.top_k
        self.ignored = p.ignore_label if p.HasField("ignore_label") else None

    def reshape(self, bottom: Views, top: Views) -> None:
        self.folded = fold_classes(self, bottom, self.layer_param.accuracy_param.axis)
        classes = self.folded[1]
        self.check(self.top_k <= classes, f"top_k is {self.top_k}, but there are {classes} classes")
        top[0].reshape()
        for view in top[1:]:
            view.reshape(classes)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, classes = self.xp, self.folded[1]
        scores = bottom[0].data.reshape(self.folded)
        if self.layer_param.accuracy_param.min_is_better:
            scores = -scores
        labels, counted = class_numbers(self, bottom[1], self.folded, self.ignored)
        own = scores.reshape(-1)[places(xp, labels, self.folded)][:, None]
        correct = (scores >= own).sum(axis=1) <= self.top_k  # the label's own score is one of them
        if counted is not None:
            correct &= counted
        of = labels.size if counted is None else int(counted.sum())
        top[0].data[...] = correct.sum() / max(1, of)
        for view in top[1:]:
            hits = xp.bincount(labels[correct], minlength=classes)
            all_labels = labels.reshape(-1) if counted is None else labels[counted]
            view.data[...] = hits / xp.maximum(1, xp.bincount(all_labels, minlength=classes))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count
