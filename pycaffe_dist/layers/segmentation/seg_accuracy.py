"""SegAccuracy: how good a segmentation is, by three measures."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.loss import wrong_label


@register("SegAccuracy")
class SegAccuracy(Layer):
    """(pixel accuracy, mean recall, mean Jaccard index) of the best scored classes: (1, 1, 1, 3).

    Scores (N, C, H, W), labels (N, 1, H, W); pixels with an ``ignore_label`` do not count.
    From the confusion matrix M, M[label, class]: Σ Mₖₖ / Σ M;  the mean of Mₖₖ / Σⱼ Mₖⱼ over
    classes that occur;  the mean of Mₖₖ / (Σⱼ Mₖⱼ + Σⱼ Mⱼₖ − Mₖₖ) over all, 1 where that is 0 / 0.
    Of equal scores the last class counts.  With ``reset: false`` M is of all passes together.
    """

    bottoms = 2
    label_bottoms = (1,)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.seg_accuracy_param
        self.reset, self.ignored = p.reset, sorted(set(p.ignore_label))
        self.remembers = not p.reset
        self.confusion: Array | None = None  # (C, C), in plain memory

    def reshape(self, bottom: Views, top: Views) -> None:
        scores, labels = bottom[0].shape, bottom[1].shape
        self.check(len(scores) == 4, f"needs scores (N, C, H, W), found {scores}")
        self.check(
            bottom[1].count == bottom[0].count // max(1, scores[1]) and labels[0] == scores[0],
            f"needs a label for each pixel of the scores {scores}, found {labels}",
        )
        top[0].reshape(1, 1, 1, 3)

    def forward(self, bottom: Views, top: Views) -> None:
        classes = bottom[0].shape[1]
        if self.reset or self.confusion is None or len(self.confusion) != classes:
            self.confusion = np.zeros((classes, classes), np.int64)
        best = classes - 1 - bottom[0].data[:, ::-1].argmax(axis=1).reshape(-1)
        labels, counted = self._labels(bottom, classes)
        pairs = (labels * classes + best)[counted]
        found = self.xp.bincount(pairs, minlength=classes * classes)
        self.confusion += np.asarray(found if self.xp is np else found.get()).reshape(classes, -1)
        for i, measure in enumerate(measures(self.confusion)):
            top[0].data[0, 0, 0, i] = measure

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def get_state(self) -> Facts:
        if self.reset or self.confusion is None:
            return {}
        return {"confusion": self.confusion.copy()}

    def set_state(self, state: Facts) -> None:
        self.confusion = state.get("confusion")

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count

    def _labels(self, bottom: Views, classes: int) -> tuple[Array, Array]:
        given = bottom[1].data.reshape(-1)
        labels = self.xp.trunc(given)
        counted = self.xp.ones(labels.shape, bool)
        for ignored in self.ignored:
            counted &= labels != ignored
        fine = ((given > -1) & (given < classes)) | ~counted
        if not fine.all():
            at = int(fine.argmin())
            place = np.unravel_index(at, bottom[1].shape)
            first = self.ignored[0] if self.ignored else None
            raise self.error(wrong_label(float(given[at]), place, classes, first))
        return labels.astype(np.int64), counted


def measures(confusion: Array) -> tuple[float, float, float]:
    """Pixel accuracy, mean recall and mean Jaccard index of a matrix [label, class]."""
    right, labelled = np.diagonal(confusion), confusion.sum(axis=1)
    union = labelled + confusion.sum(axis=0) - right
    occurs = labelled > 0
    accuracy = right.sum() / max(1, confusion.sum())
    recall = (right[occurs] / labelled[occurs]).sum() / max(1, occurs.sum())
    jaccard = np.where(union == right, 1.0, right / np.maximum(union, 1)).mean()
    return float(accuracy), float(recall), float(jaccard)
