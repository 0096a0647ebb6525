"""YoloDetectionOutput and Yolov3DetectionOutput: the boxes that a YOLO net has found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pycaffe_dist.aliases import Array, Number
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.boxes import nms
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.softmax import softmax

COLUMNS = 7  # image, label, confidence, xmin, ymin, xmax, ymax


class YoloOutput(Layer):
    """Rows (1, 1, R, 7): image, label, confidence, xmin, ymin, xmax, ymax, for each image sorted.

    Labels count from 1.  Boxes that overlap a better one by ``nms_threshold`` or more go, whatever
    their labels.  Where nothing is found there is a row for each image, with −1 behind its number.
    """

    bottoms = (1, None)
    on_host = True

    def candidates(self, values: Array, which: int) -> tuple[Array, Array, Array]:
        """Boxes (K, 4), labels from 0 (K,) and confidences (K,) that one bottom has for an image.

        values: (boxes of a cell, numbers of a box, h, w)
        """
        raise NotImplementedError

    def boxes_of(self, which: int) -> int:
        """How many boxes each cell of a bottom has."""
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        for i, view in enumerate(bottom):
            shape, count = view.shape, self.boxes_of(i) * self.numbers
            self.check(
                len(shape) == 4 and shape[1] == count,
                f"needs bottoms (N, {count}, h, w): {self.numbers} numbers for each of "
                f"{self.boxes_of(i)} boxes; found {shape}",
            )
            self.check(shape[0] == bottom[0].shape[0], f"the bottoms differ in length: {shape}")
        top[0].reshape(1, 1, 1, COLUMNS)

    def forward(self, bottom: Views, top: Views) -> None:
        data = [view.data for view in bottom]
        images = len(data[0])
        found = np.concatenate([row for i in range(images) for row in self._rows(data, i)])
        if not len(found):
            found = np.full((images, COLUMNS), -1, self.dtype)
            found[:, 0] = np.arange(images)
        top[0].reshape(1, 1, *found.shape)
        top[0].data[...] = found

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        return sum(4 * view.count for view in bottom)

    def _rows(self, data: list[Array], image: int) -> Iterator[Array]:
        parts = []
        for i, values in enumerate(data):
            h, w = values.shape[2:]
            parts.append(self.candidates(values[image].reshape(self.boxes_of(i), -1, h, w), i))
        boxes, labels, confidences = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(-confidences, kind="stable")
        kept = order[nms(boxes[order], self.threshold, inclusive=True)]
        head = [np.full(len(kept), image), labels[kept] + 1, confidences[kept]]
        yield np.column_stack([*head, boxes[kept]]).astype(self.dtype)

    threshold: float
    numbers: int


def centred(values: Array, sizes: Array) -> Array:
    """Boxes (cell rows, cell columns, boxes, 4) from (boxes, 4 or more, h, w).

    The centre is a sigmoid within its cell, the size e^v times ``sizes`` (boxes, 2), in parts of
    the image.
    """
    v = values.transpose(2, 3, 0, 1)
    h, w = v.shape[:2]
    cell = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=2)[:, :, None]
    centre = (cell + sigmoid(v[..., :2])) / np.array([w, h], values.dtype)
    half = np.exp(v[..., 2:4]) * sizes.astype(values.dtype) / 2
    return np.concatenate([centre - half, centre + half], axis=-1).astype(values.dtype)


def sigmoid(x: Array) -> Array:
    with np.errstate(over="ignore"):
        out: Array = 1 / (1 + np.exp(-x))
    return out


@register("YoloDetectionOutput")
class YoloDetectionOutput(YoloOutput):
    """YOLOv2: a box has x, y, w, h, its objectness and a score for each class.

    Confidence: σ(objectness) · the largest of the classes' softmax; from confidence_threshold on.
    Sizes are ``biases``, pairs in cells.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.yolo_detection_output_param
        self.check(p.coords == 4, f"knows boxes of 4 numbers only, not {p.coords}")
        self.threshold, self.numbers = p.nms_threshold, 5 + p.num_classes
        self.sizes = np.array(p.biases, np.float64).reshape(-1, 2)
        self.check(
            len(self.sizes) == p.num_box,
            f"needs a pair of biases for each of {p.num_box} boxes, found {len(p.biases)} biases",
        )

    def boxes_of(self, which: int) -> int:
        return self.layer_param.yolo_detection_output_param.num_box

    def candidates(self, values: Array, which: int) -> tuple[Array, Array, Array]:
        cells = np.array(values.shape[:1:-1])
        boxes = centred(values, self.sizes / cells).reshape(-1, 4)
        scores = values[:, 5:].transpose(2, 3, 0, 1).reshape(-1, values.shape[1] - 5, 1)
        classes = np.empty_like(scores)
        softmax(np, scores, out=classes)
        labels = classes[:, :, 0].argmax(axis=1)
        object_ = sigmoid(values[:, 4]).transpose(1, 2, 0).reshape(-1)
        confidences = object_ * classes[np.arange(len(labels)), labels, 0]
        good = confidences >= self.layer_param.yolo_detection_output_param.confidence_threshold
        return boxes[good], labels[good], confidences[good]


@register("Yolov3DetectionOutput")
class Yolov3DetectionOutput(YoloOutput):
    """YOLOv3, with a bottom for each scale: a box has x, y, w, h, its objectness and class scores.

    Confidence of a class: σ(objectness)·σ(its score); every class above confidence_threshold makes
    a row.  ``mask`` says which ``biases``, pairs in pixels, are the sizes of a bottom's boxes;
    its cells are ``anchors_scale`` pixels wide.  With ``gaussian_box`` each of x, y, w, h has a
    deviation behind it, whose mean σ is taken off the confidence.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.yolov3_detection_output_param
        self.threshold = p.nms_threshold
        self.numbers = (9 if p.gaussian_box else 5) + p.num_classes
        self.check(
            len(bottom) == p.mask_group_num == len(p.anchors_scale),
            f"needs as many bottoms ({len(bottom)}) and anchors_scale ({len(p.anchors_scale)}) as "
            f"mask_group_num says, {p.mask_group_num}",
        )
        pairs = np.array(p.biases, np.float64).reshape(-1, 2)
        self.check(
            len(p.mask) == p.num_box * len(bottom) and max(p.mask, default=0) < len(pairs),
            f"needs {p.num_box} mask for each of {len(bottom)} bottoms, each one of the "
            f"{len(pairs)} pairs of biases; found {list(p.mask)}",
        )
        self.sizes = pairs[list(p.mask)].reshape(len(bottom), p.num_box, 2)

    def boxes_of(self, which: int) -> int:
        return self.layer_param.yolov3_detection_output_param.num_box

    def candidates(self, values: Array, which: int) -> tuple[Array, Array, Array]:
        p = self.layer_param.yolov3_detection_output_param
        certainty: Number = 1
        if p.gaussian_box:
            certainty = 1 - sigmoid(values[:, 1:8:2]).mean(axis=1, keepdims=True)
            values = np.concatenate([values[:, 0:8:2], values[:, 8:]], axis=1)
        pixels = np.array(values.shape[:1:-1]) * p.anchors_scale[which]
        boxes = centred(values, self.sizes[which] / pixels).reshape(-1, 4)
        scores = sigmoid(values[:, 4:5]) * sigmoid(values[:, 5:]) * certainty
        scores = scores.transpose(2, 3, 0, 1).reshape(len(boxes), p.num_classes)
        box, label = np.nonzero(scores > p.confidence_threshold)
        return boxes[box], label, scores[box, label]
