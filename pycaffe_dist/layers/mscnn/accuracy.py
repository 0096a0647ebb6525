"""DetectionAccuracy and BboxAccuracy of MS-CNN: how good its maps and its regions are."""

from __future__ import annotations

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.mscnn.fields import BOX, COORDINATES, OVERLAP, Field, norm_of
from pycaffe_dist.layers.without_gradient import WithoutGradient

SURE = 0.975  # a region with more overlap is the box of the truth itself


def mean_of(values: Array) -> float:
    """−1 of none."""
    return float(values.mean()) if len(values) else -1.0


def around(middles: Array, sizes: Array) -> Array:
    """(n, 4): boxes of (n, 2) middles and sizes."""
    return np.concatenate([middles - sizes / 2, middles + sizes / 2], axis=1)


def pairwise(a: Array, b: Array) -> Array:
    """(n,): the overlap of each box with the one of the same number."""
    common = np.maximum(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]), 0).prod(1)
    union = boxes.areas(a) + boxes.areas(b) - common
    overlap: Array = np.divide(common, union, out=np.zeros_like(common), where=common > 0)
    return overlap


@register("DetectionAccuracy")
class DetectionAccuracy(WithoutGradient):
    """Bottoms as those of DetectionLoss.  Tops: the share of cells whose class is among the
    ``top_k`` with the largest scores, and that of cells with an object, (1, 1, 1, 2); and, if
    wanted, how much predicted boxes overlap theirs on average.  −1 where there is none.

    Cells of the background that a box overlaps by ``bg_threshold`` do not count, nor those of
    ``ignore_label``.  Of equal scores the last class comes first.
    """

    bottoms = 2
    tops = (1, 2)
    label_bottoms = (1,)
    on_host = True

    def setup(self, bottom: Views, top: Views) -> None:
        self.param = self.layer_param.detection_accuracy_param
        self.field = Field(self, self.param)
        p = self.layer_param.loss_param
        self.ignored = p.ignore_label if p.HasField("ignore_label") else None
        norm = norm_of(self, self.layer_param.bbox_reg_param)
        self.mean, self.std = (v.reshape(1, COORDINATES, 1, 1) for v in norm)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.field.check_maps(self, bottom)
        top[0].reshape(1, 1, 1, 2)
        for view in top[1:]:
            view.reshape(1, 1, 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        x, labels, p = bottom[0].data, bottom[1].data, self.param
        kinds = self.field.kinds(labels)
        objects = (kinds != 0) & (kinds != self.ignored)
        counted = objects | ((kinds == 0) & (labels[:, OVERLAP] < p.bg_threshold))
        scores = x[:, : p.cls_num]
        numbers = np.arange(p.cls_num).reshape(1, -1, 1, 1)
        own = np.where(numbers == kinds[:, None], scores, -np.inf).max(1, keepdims=True)
        before = (scores > own) | ((scores == own) & (numbers > kinds[:, None]))
        right = before.sum(1) < p.top_k
        top[0].data[0, 0, 0] = mean_of(right[counted]), mean_of(right[objects])
        for view in top[1:]:
            view.data[...] = self._overlap(x[:, p.cls_num :], labels[:, BOX], objects)

    def _overlap(self, shifts: Array, truth: Array, objects: Array) -> float:
        found = self.field.decoded(self.field.within(shifts * self.std + self.mean))
        pairs = (a.transpose(0, 2, 3, 1)[objects] for a in (found, truth))
        a, b = (around(rows[:, :2], rows[:, 2:]) for rows in pairs)
        return mean_of(pairwise(a, b))

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count


@register("BboxAccuracy")
class BboxAccuracy(WithoutGradient):
    """Bottoms: shifts (R, 4K) of regions (R, 5), and the boxes they are matched with (R, 6): class,
    x1, y1, x2, y2, overlap.  Tops: how much the shifted regions overlap their boxes on average;
    and, if wanted, the regions as they were; −1 if none has a box.

    Shifts are in the columns of the class (``cls_aware``), or of class 1.  Regions that are nearly
    the box itself do not count.
    """

    bottoms = 3
    tops = (1, 2)
    label_bottoms = (1, 2)
    on_host = True
    fork_fields = ("BBoxRegParameter.cls_aware",)

    def setup(self, bottom: Views, top: Views) -> None:
        self.mean, self.std = norm_of(self, self.layer_param.bbox_reg_param)
        self.aware = self.layer_param.bbox_reg_param.cls_aware

    def reshape(self, bottom: Views, top: Views) -> None:
        count, columns = bottom[0].shape[0], bottom[0].count_from(1)
        self.check(
            [view.shape[0] for view in bottom] == [count] * 3
            and (bottom[1].count_from(1), bottom[2].count_from(1)) == (5, 6)
            and columns % COORDINATES == 0
            and (self.aware or columns == 2 * COORDINATES),
            "takes shifts (R, 4K), of two classes without cls_aware, regions (R, 5) and boxes "
            f"(R, 6), found {[view.shape for view in bottom]}",
        )
        for view in top:
            view.reshape(1, 1, 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        shifts, regions, truth = (view.data.reshape(view.shape[0], -1) for view in bottom)
        some = np.flatnonzero((truth[:, 0] > 0) & (truth[:, -1] <= SURE))
        column = truth[some, 0].astype(int) if self.aware else np.ones(len(some), int)
        classes = shifts.shape[1] // COORDINATES
        self.check(bool((column < classes).all()), f"a class is none of the {classes}: {column}")
        own = shifts.reshape(len(shifts), -1, COORDINATES)[some, column] * self.std + self.mean
        last = np.array([0, 0, 1, 1], self.dtype)
        near, wanted = regions[some, 1:] + last, truth[some, 1:5] + last
        moved = boxes.decode(boxes.CENTER_SIZE, near, None, own)
        for view, found in zip(top, (moved, near), strict=False):
            view.data[...] = mean_of(pairwise(found, wanted))

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count
