"""RegionLoss of YOLOv2 and Yolov3: what their nets learn from boxes."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.boxes import iou
from pycaffe_dist.layer import register
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.layers.softmax import softmax
from pycaffe_dist.layers.yolo.detection_output import centred, sigmoid
from pycaffe_dist.layers.yolo.overlap import slope
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import Yolov3Parameter

COLUMNS = 5  # of a label: class, centre x and y, width, height
EARLY = 12800  # images for which YOLOv2's boxes are drawn to their anchors
PULL = 0.01
Place = tuple[int, int, int, int]  # image, box of the cell, row, column


class YoloLoss(Loss):
    """∂x = δ·weight/N, with a δ for each number that is not a derivative; y = Σ δ²/N.

    x: (N, boxes·(5 + classes), h, w); of each box x, y, w, h, its objectness and class scores.
    Labels: (N, 1, T, 5), class from 0, centre and size in parts of the image; they end with the
    first whose x or w is 0.
    """

    on_host = True
    boxes: int
    classes: int
    thresh: float

    def sizes(self, h: int, w: int) -> Array:
        """(boxes, 2): width and height of each box's anchor, in parts of the image."""
        raise NotImplementedError

    def activate(self, values: Array) -> Array:
        """The numbers (N, boxes, 5 + classes, h, w) as they are compared with targets."""
        raise NotImplementedError

    def nobody(self, objectness: Array) -> Array:
        """δ of the objectness of boxes that find nothing."""
        raise NotImplementedError

    def learn(self, image: int, truth: Array) -> None:
        """Put the δ of one label (5,) in their places."""
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        shape, labels = bottom[0].shape, bottom[1].shape
        numbers = COLUMNS + self.classes
        self.check(
            len(shape) == 4 and shape[1] == self.boxes * numbers,
            f"needs a bottom (N, {self.boxes * numbers}, h, w): {numbers} numbers for each of "
            f"{self.boxes} boxes; found {shape}",
        )
        self.check(
            labels[-1] == COLUMNS,
            f"needs labels (N, 1, T, {COLUMNS}), as AnnotatedData has them with "
            f"yolo_data_type: 1; found {labels}",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        n, _, h, w = bottom[0].shape
        values = bottom[0].data.reshape(n, self.boxes, COLUMNS + self.classes, h, w)
        labels = bottom[1].data.reshape(n, -1, COLUMNS)
        self.h, self.w, self.anchors = h, w, self.sizes(h, w)
        self.active, self.delta = self.activate(values), np.zeros_like(values)
        for i in range(n):
            predicted = centred(values[i], self.anchors)
            overlaps = iou(predicted.reshape(-1, 4), corners(until_zero(labels[i], 1)[:, 1:]))
            best = overlaps.max(1, initial=0).reshape(predicted.shape[:3]).transpose(2, 0, 1)
            self.delta[i, :, 4] = self.nobody(self.active[i, :, 4]) * (best <= self.thresh)
            self.begin(i)
            for truth in until_zero(labels[i], 3):
                self._check_class(truth[0])
                self.learn(i, truth)
        top[0].data[...] = self.total() / n

    def begin(self, image: int) -> None:
        """What is done before the labels of an image."""

    def total(self) -> float:
        return float(np.square(self.delta).sum())

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.refuse_label_gradient(propagate_down)
        if propagate_down[0]:
            weight = self.scaled_weight(top, bottom[0].shape[0])
            bottom[0].diff[...] = (self.delta * weight).reshape(bottom[0].shape)

    # -- help for subclasses -----------------------------------------------------------------

    def cell(self, truth: Array) -> tuple[int, int]:
        """Row and column of the cell that has the centre."""
        row, column = int(truth[2] * self.h), int(truth[1] * self.w)
        self.check(
            0 <= row < self.h and 0 <= column < self.w,
            f"the centre of a box, ({truth[1]:g}, {truth[2]:g}), is outside of the image",
        )
        return row, column

    def residual(self, place: Place, truth: Array) -> tuple[Array, Array]:
        """Target less value: of the centre within its cell, and of the size's logarithm."""
        image, box, row, column = place
        value = self.active[image, box, :4, row, column]
        centre = truth[1:3] * (self.w, self.h) - (column, row) - self.centre(value[:2])
        return centre, np.log(truth[3:] / self.anchors[box]) - value[2:]

    def found(self, place: Place) -> Array:
        """The box that the net has there: centre and size in parts of the image."""
        image, box, row, column = place
        value = self.active[image, box, :4, row, column]
        x, y = self.centre(value[:2])
        size = np.exp(value[2:]) * self.anchors[box]
        return np.array([(column + x) / self.w, (row + y) / self.h, *size], self.dtype)

    def centre(self, active: Array) -> Array:
        """The centre within its cell, from its active values."""
        return active

    def _check_class(self, label: float) -> None:
        self.check(
            0 <= label < self.classes,
            f"class {label:g} of a box is none of the {self.classes} classes "
            f"(0 to {self.classes - 1})",
        )


@register("RegionLoss")
class RegionLoss(YoloLoss):
    """YOLOv2's.  σ of x, y and the objectness o, softmax p of the classes; ``biases`` in cells.

    A box that overlaps no label by more than ``thresh``: δo = noobject_scale·o·o(1 − o).
    A label is learned by the box in its cell whose size is most like its own (with ``bias_match``
    that of the anchor), with targets t: δx = coord_scale·(σx − tx)·σ'(x), δw = coord_scale·(w − tw)
    (both times 2 − area without ``rescore``), δo = −object_scale·(t − o)·o(1 − o), t its overlap
    with ``rescore`` and else 1, δp = class_scale·(p − 1 of the label's class).
    For the first 12800 images all boxes are drawn to their anchors, with a scale of 0.01.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.region_loss_param
        self.boxes, self.classes, self.thresh = p.num, p.num_class, p.thresh
        self.passes = 0
        self.check(p.coords == 4, f"knows boxes of 4 numbers only, not {p.coords}")
        self.check(not p.softmax_tree, "softmax_tree is not supported")
        self.check(
            len(p.biases) == 2 * p.num,
            f"needs a pair of biases for each of {p.num} boxes, found {len(p.biases)} biases",
        )

    def sizes(self, h: int, w: int) -> Array:
        pairs = np.array(self.layer_param.region_loss_param.biases, self.dtype).reshape(-1, 2)
        relative: Array = pairs / np.array([w, h], self.dtype)
        return relative

    def activate(self, values: Array) -> Array:
        active = values.copy()
        active[:, :, 4] = sigmoid(values[:, :, 4])
        n, boxes, _, h, w = values.shape
        scores = values[:, :, 5:].reshape(n * boxes, self.classes, h * w)
        softmax(np, scores, out=(made := np.empty_like(scores)))
        active[:, :, 5:] = made.reshape(n, boxes, self.classes, h, w)
        return active

    def centre(self, active: Array) -> Array:
        return sigmoid(active)

    def nobody(self, objectness: Array) -> Array:
        scale = self.layer_param.region_loss_param.noobject_scale
        delta: Array = scale * objectness * objectness * (1 - objectness)
        return delta

    def begin(self, image: int) -> None:
        if image == 0:
            self.passes += 1
        if self.passes <= EARLY // len(self.delta):
            values, delta = self.active[image, :, :4], self.delta[image, :, :4]
            s = sigmoid(values[:, :2])
            delta[:, :2] = PULL * (s - 0.5) * s * (1 - s)
            delta[:, 2:] = PULL * values[:, 2:]

    def learn(self, image: int, truth: Array) -> None:
        p = self.layer_param.region_loss_param
        row, column = self.cell(truth)
        values = self.active[image, :, :, row, column]
        grown = 1 if p.bias_match else np.exp(values[:, 2:4])
        alike = shape_iou(self.anchors * grown, truth[3:])
        box = int(alike.argmax()) if alike.max() > 0 else 0
        place, delta = (image, box, row, column), self.delta[image, box, :, row, column]
        scale = p.coord_scale * (1 if p.rescore else 2 - truth[3] * truth[4])
        centre, size = self.residual(place, truth)
        s, o = sigmoid(values[box, :2]), values[box, 4]
        delta[:2], delta[2:4] = -scale * centre * s * (1 - s), -scale * size
        found = corners(self.found(place)[None])
        target = iou(found, corners(truth[None, 1:]))[0, 0] if p.rescore else 1
        delta[4] = -p.object_scale * (target - o) * o * (1 - o)
        delta[5:] = p.class_scale * (values[box, 5:] - one_hot(truth[0], self.classes))


@register("Yolov3")
class Yolov3(YoloLoss):
    """YOLOv3's.  σ of x, y, the objectness o and the classes p; ``biases`` in pixels, of which
    ``mask`` are the anchors here; a cell is ``anchors_scale`` pixels wide.

    A box that overlaps no label by more than ``thresh``: δo = o.  A label is learned by the anchor
    most like it, if it is one of these, and by those that are like it by more than ``iou_thresh``:
    δo = o − 1 (times object_scale with ``use_logic_gradient``); of the box coord_scale·(2 − area)·
    (value − target); δp = class_scale·(p − y), with y = 1 or 0, ``label_smooth_eps`` of the way to
    ½ (with ``use_focal_loss`` weighted by ½·(1 − p)(1 − p − 2p·log p)); where another label has
    been before, the class of the second alone.

    With ``iou_loss`` IOU or GIOU the box has the slope of the overlap instead, times
    ``iou_normalizer`` and cut at ``max_delta``, and the loss is that of the others and
    iou_normalizer·(1 − overlap).  With ``use_logic_gradient`` all but w and h are times σ'.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.yolov3_param
        self.boxes, self.classes, self.thresh = p.num, p.num_class, p.thresh
        self.pairs = np.array(p.biases, np.float64).reshape(-1, 2)
        self.mask = list(p.mask)
        self.by_overlap = p.iou_loss != Yolov3Parameter.MSE
        self.check(
            p.iou_loss not in (Yolov3Parameter.DIOU, Yolov3Parameter.CIOU),
            "knows iou_loss MSE, IOU and GIOU",
        )
        self.check(
            len(self.mask) == p.num and max(self.mask, default=0) < len(self.pairs),
            f"needs {p.num} mask, each one of the {len(self.pairs)} pairs of biases; found "
            f"{self.mask}",
        )

    def sizes(self, h: int, w: int) -> Array:
        scale = self.layer_param.yolov3_param.anchors_scale
        self.all_sizes = (self.pairs / np.array([w * scale, h * scale])).astype(self.dtype)
        chosen: Array = self.all_sizes[self.mask]
        return chosen

    def activate(self, values: Array) -> Array:
        self.missed: list[float] = []
        active = sigmoid(values)
        active[:, :, 2:4] = values[:, :, 2:4]
        return active

    def nobody(self, objectness: Array) -> Array:
        return objectness

    def learn(self, image: int, truth: Array) -> None:
        p = self.layer_param.yolov3_param
        row, column = self.cell(truth)
        alike = shape_iou(self.all_sizes, truth[3:])
        best = int(alike.argmax())
        for box, anchor in enumerate(self.mask):
            if anchor == best or alike[anchor] > p.iou_thresh:
                self._learn((image, box, row, column), truth)

    def _learn(self, place: Place, truth: Array) -> None:
        p = self.layer_param.yolov3_param
        image, box, row, column = place
        value, delta = (a[image, box, :, row, column] for a in (self.active, self.delta))
        if self.by_overlap:
            self._learn_overlap(place, truth, value, delta)
        else:
            scale = p.coord_scale * (2 - truth[3] * truth[4])
            delta[:4] = -scale * np.concatenate(self.residual(place, truth))
        delta[4] = (value[4] - 1) * (p.object_scale if p.use_logic_gradient else 1)
        label = int(truth[0])
        if delta[5]:
            delta[5 + label] = value[5 + label] - 1
            return
        e = p.label_smooth_eps
        wanted = one_hot(label, self.classes) * (1 - e) + 0.5 * e
        delta[5:] = p.class_scale * (value[5:] - wanted)
        if p.use_focal_loss:
            sure = value[5 + label] + 1e-15
            delta[5:] *= 0.5 * (1 - sure) * (1 - sure - 2 * sure * np.log(sure))

    def _learn_overlap(self, place: Place, truth: Array, value: Array, delta: Array) -> None:
        p = self.layer_param.yolov3_param
        overlap, steep = slope(self.found(place), truth[1:], p.iou_loss == Yolov3Parameter.GIOU)
        self.missed.append(1 - overlap)
        steep[2:] *= np.exp(value[2:4])
        step = np.clip(-p.iou_normalizer * steep, -p.max_delta, p.max_delta)
        delta[:4] = delta[:4] + step if p.accumulate else step

    def total(self) -> float:
        if not self.by_overlap:
            return super().total()
        scale = self.layer_param.yolov3_param.iou_normalizer
        return float(np.square(self.delta[:, :, 4:]).sum()) + scale * sum(self.missed)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self.layer_param.yolov3_param.use_logic_gradient:
            steep = self.active * (1 - self.active)
            steep[:, :, 2:4] = 1
            self.delta, kept = self.delta * steep, self.delta
            super().backward(top, propagate_down, bottom)
            self.delta = kept
        else:
            super().backward(top, propagate_down, bottom)


def until_zero(labels: Array, column: int) -> Array:
    """The rows before the first that has 0 there."""
    end = np.flatnonzero(labels[:, column] == 0)
    return labels[: end[0]] if len(end) else labels


def corners(boxes: Array) -> Array:
    """(n, 4): centre and size to corners."""
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def shape_iou(sizes: Array, size: Array) -> Array:
    """(n,): the overlaps of boxes of these sizes (n, 2) with one of that size at one place."""
    common = np.minimum(sizes, size).prod(1)
    overlap: Array = common / (sizes.prod(1) + size.prod() - common)
    return overlap


def one_hot(label: float, count: int) -> Array:
    hot: Array = np.arange(count) == int(label)
    return hot
