"""What Faster R-CNN learns from: the truth in its form, targets of anchors, targets of regions.

Others have these as Python layers.  A box is x1, y1, x2, y2 in pixels, its last ones included.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Views
from pycaffe_dist.boxes import CENTER_SIZE, encode, iou
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rcnn.proposal import checked_anchors, grid
from pycaffe_dist.layers.without_gradient import WithoutGradient
from pycaffe_dist.proto.caffe_pb2 import AnchorTargetParameter, RegionTargetParameter
from pycaffe_dist.rng import generator

STD = (0.1, 0.1, 0.2, 0.2)
IGNORED = -1


class Target(WithoutGradient):
    """Computed from blobs that learn nothing from it."""

    on_host = True

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def check_sample(self, p: AnchorTargetParameter | RegionTargetParameter) -> None:
        """How many are drawn has to be a number, and a part of it."""
        self.check(p.batch_size > 0, f"batch_size must be above 0, found {p.batch_size}")
        part = p.positive_fraction
        self.check(0 <= part <= 1, f"positive_fraction is 0 to 1, not {part:g}")

    def some(self, candidates: Array, count: int) -> Array:
        """At most ``count`` of them, drawn without replacement."""
        if len(candidates) <= count:
            return candidates
        return np.sort(generator().choice(candidates, count, replace=False))


@register("RcnnTruth")
class RcnnTruth(Target):
    """An image (1, C, H, W) and AnnotatedData's rows (1, 1, G, 8) in R-CNN's form.

    Tops: (1, 3), height, width and scale, which is 1; and (G, 5), x1, y1, x2, y2 in pixels, class.
    Of an image without boxes, the second is empty: (0, 5).
    """

    bottoms = tops = 2
    label_bottoms = (1,)

    def reshape(self, bottom: Views, top: Views) -> None:
        image, rows = (view.shape for view in bottom)
        self.check(len(image) == 4 and image[0] == 1, f"takes one image, found {image}")
        self.check(
            rows[:2] == (1, 1) and rows[3:] == (8,),
            f"takes a truth of the shape (1, 1, G, 8), found {rows}",
        )
        top[0].reshape(1, 3)
        top[1].reshape(rows[2], 5)

    def forward(self, bottom: Views, top: Views) -> None:
        height, width = bottom[0].shape[2:]
        rows = bottom[1].data[0, 0]
        rows = rows[rows[:, 0] == 0]
        classes = self.layer_param.rcnn_truth_param.num_classes
        wrong = rows[(rows[:, 1] < 1) | (rows[:, 1] >= classes), 1]
        self.check(not len(wrong), f"class {wrong[:1]} is none of 1 to {classes - 1}")
        top[0].data[...] = height, width, 1
        top[1].reshape(len(rows), 5)
        size = np.array([width, height, width, height], self.dtype)
        top[1].data[:, :4] = rows[:, 3:7] * size - np.array([0, 0, 1, 1], self.dtype)
        top[1].data[:, 4] = rows[:, 1]


@register("AnchorTarget")
class AnchorTarget(Target):
    """Which anchors are objects, and how far they are from them.

    Bottoms: scores (1, 2A, h, w), truth (G, 5), height, width and scale (1, 3).
    Tops: labels (1, 1, A·h, w), 1, 0 or −1 (ignored), targets (1, 4A, h, w), their inner weights, 1
    where the label is 1, and outer weights, 1/(number of labels 0 and 1) where it is not −1.

    Of anchors within the image, one is an object if it overlaps a box by ``positive_overlap``, or
    if no other overlaps that box more; it is background if it overlaps all boxes by less than
    ``negative_overlap``.  Of ``batch_size`` that count, ``positive_fraction`` are objects at most.
    """

    bottoms = 3
    tops = 4
    label_bottoms = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.anchor_target_param
        self.anchors = checked_anchors(self, p)
        self.check_sample(p)

    def reshape(self, bottom: Views, top: Views) -> None:
        scores, count = bottom[0].shape, len(self.anchors)
        self.check(
            len(scores) == 4 and scores[:2] == (1, 2 * count),
            f"{count} anchors need scores (1, {2 * count}, h, w), found {scores}",
        )
        self.check(bottom[1].shape[1:] == (5,), f"needs boxes (G, 5), found {bottom[1].shape}")
        self.size = scores[2:]
        top[0].reshape(1, 1, count * self.size[0], self.size[1])
        for view in top[1:]:
            view.reshape(1, 4 * count, *self.size)

    def forward(self, bottom: Views, top: Views) -> None:
        truth, (height, width) = bottom[1].data[:, :4], bottom[2].data.reshape(-1)[:2]
        stride = self.layer_param.anchor_target_param.feat_stride
        boxes = grid(self.anchors, stride, self.size, self.dtype).reshape(-1, 4)
        inside = np.flatnonzero(
            (boxes[:, :2] >= 0).all(1) & (boxes[:, 2] < width) & (boxes[:, 3] < height)
        )
        labels = np.full(len(boxes), IGNORED)
        targets = np.zeros((len(boxes), 4), self.dtype)
        overlaps = iou(boxes[inside], truth, pixel=1)
        labels[inside] = self.labels(overlaps)
        if len(truth):
            targets[inside] = encoded(boxes[inside], truth[overlaps.argmax(1)])
        counted = labels != IGNORED
        inner = np.repeat(labels == 1, 4).reshape(-1, 4)
        outer = np.repeat(counted, 4).reshape(-1, 4) / max(1, int(counted.sum()))
        top[0].data[...] = self._maps(labels[:, None]).reshape(top[0].shape)
        for view, values in zip(top[1:], (targets, inner, outer), strict=True):
            view.data[...] = self._maps(values).reshape(view.shape)

    def labels(self, overlaps: Array) -> Array:
        """Of anchors with these overlaps (n, G)."""
        p = self.layer_param.anchor_target_param
        best = overlaps.max(1, initial=0)
        labels = np.full(len(overlaps), IGNORED)
        labels[best < p.negative_overlap] = 0
        most = overlaps.max(0, initial=0)
        labels[((overlaps == most) & (most > 0)).any(1)] = 1
        labels[best >= p.positive_overlap] = 1
        positive = self.some(np.flatnonzero(labels == 1), int(p.batch_size * p.positive_fraction))
        negative = self.some(np.flatnonzero(labels == 0), p.batch_size - len(positive))
        labels[:] = IGNORED
        labels[positive], labels[negative] = 1, 0
        return labels

    def _maps(self, rows: Array) -> Array:
        """(h·w·A, k), in the order of the places, to (A, k, h, w)."""
        maps = rows.reshape(*self.size, len(self.anchors), -1)
        return maps.transpose(2, 3, 0, 1)


@register("RegionTarget")
class RegionTarget(Target):
    """Which regions are learned from, what they are, and how far from their boxes.

    Bottoms: regions (R, 5) of one image, truth (G, 5).
    Tops: regions (B, 5), labels (B,), targets (B, 4K) in the columns of the label, divided by
    ``std``, and their inner and outer weights (B, 4K), 1 in those columns.

    The boxes of the truth are regions too.  One is an object if it overlaps a box by
    ``positive_overlap``, and background from ``negative_overlap`` to below that.  Of B =
    ``batch_size`` regions ``positive_fraction`` are objects at most; there may be fewer.
    """

    bottoms = 2
    tops = 5
    label_bottoms = (0, 1)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.region_target_param
        self.check_sample(p)
        self.std = np.array(p.std or STD, self.dtype)
        self.check(
            len(self.std) == 4 and bool((self.std > 0).all()), "std are four numbers above 0"
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        for view in bottom:
            self.check(view.shape[1:] == (5,), f"needs rows of five, found {view.shape}")
        self._shape(top, self.layer_param.region_target_param.batch_size)

    def forward(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.region_target_param
        truth = bottom[1].data
        regions = np.concatenate([bottom[0].data, np.insert(truth[:, :4], 0, 0, axis=1)])
        overlaps = iou(regions[:, 1:], truth[:, :4], pixel=1)
        best = overlaps.max(1, initial=0)
        objects = np.flatnonzero(best >= p.positive_overlap)
        objects = self.some(objects, int(p.batch_size * p.positive_fraction))
        others = np.flatnonzero((best < p.positive_overlap) & (best >= p.negative_overlap))
        others = self.some(others, p.batch_size - len(objects))
        kept = np.concatenate([objects, others])
        self._shape(top, len(kept))
        top[0].data[...] = regions[kept]
        for view in top[1:]:
            view.data[...] = 0
        if not len(objects):
            return
        matched = truth[overlaps[objects].argmax(1)]
        labels = matched[:, 4].astype(int)
        rows = np.arange(len(objects))
        top[1].data[rows] = labels
        for view, values in zip(
            top[2:],
            (encoded(regions[objects, 1:], matched[:, :4]) / self.std, 1, 1),
            strict=True,
        ):
            view.data.reshape(len(kept), -1, 4)[rows, labels] = values

    def _shape(self, top: Views, count: int) -> None:
        columns = 4 * self.layer_param.region_target_param.num_classes
        top[0].reshape(count, 5)
        top[1].reshape(count)
        for view in top[2:]:
            view.reshape(count, columns)


def encoded(boxes: Array, truth: Array) -> Array:
    """(dx, dy, dw, dh) from boxes to the truth, both (n, 4)."""
    last = np.array([0, 0, 1, 1], boxes.dtype)  # corners are pixels here, coordinates there
    return encode(CENTER_SIZE, boxes + last, None, truth + last)
