"""Maps of MS-CNN: a cell predicts a box relative to a field of a fixed size around its middle.

A map of predictions (N, classes + 4, h, w) has scores, then (dx, dy, log w, log h); a map of labels
(N, 6, h, w) has the class, the middle and size of the box in pixels, and how much its field
overlaps a box.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import Layer
from pycaffe_dist.proto.caffe_pb2 import (
    BBoxRegParameter,
    DetectionAccuracyParameter,
    DetectionLossParameter,
)

COORDINATES = 4
BOX, OVERLAP = slice(1, 5), 5  # channels of the labels behind the class
PER_CELL = 6


def norm_of(layer: Layer, norm: BBoxRegParameter) -> tuple[Array, Array]:
    """Mean and standard deviation that it says predictions have; 0 and 1 without."""
    given = list(norm.bbox_mean), list(norm.bbox_std)
    if not all(given):
        given = [0.0] * COORDINATES, [1.0] * COORDINATES
    layer.check(
        all(len(values) == COORDINATES for values in given) and min(given[1]) > 0,
        f"bbox_reg_param needs {COORDINATES} bbox_mean and bbox_std, which must be above 0",
    )
    mean, std = (np.array(values, layer.dtype) for values in given)
    return mean, std


class Field:
    """The fields of a map, and boxes in parts of them."""

    def __init__(
        self, layer: Layer, p: DetectionLossParameter | DetectionAccuracyParameter
    ) -> None:
        for name in ("field_w", "field_h", "downsample_rate", "cls_num"):
            layer.check(getattr(p, name) > 0, f"{name} must be above 0")
        layer.check(p.coord_num == COORDINATES, f"coord_num is {COORDINATES}, not {p.coord_num}")
        layer.check(p.cls_num == 2 or not p.objectness, "objectness takes 2 classes")
        layer.check(p.field_xyr > 0 and p.field_whr > 0, "field_xyr and field_whr are above 0")
        self.classes, self.rate, self.objectness = p.cls_num, p.downsample_rate, p.objectness
        self.size = np.array([p.field_w, p.field_h], layer.dtype)
        sides = [1 / p.field_xyr] * 2 + [np.log(p.field_whr)] * 2
        self.limits = np.array(sides, layer.dtype).reshape(1, COORDINATES, 1, 1)

    def check_maps(self, layer: Layer, bottom: Views) -> None:
        scores, labels = (view.shape for view in bottom)
        wanted = (self.classes + COORDINATES, PER_CELL)
        layer.check(
            len(scores) == len(labels) == 4
            and (scores[1], labels[1]) == wanted
            and (scores[0], *scores[2:]) == (labels[0], *labels[2:]),
            f"takes predictions (N, {wanted[0]}, h, w) and labels (N, {PER_CELL}, h, w), found "
            f"{scores} and {labels}",
        )

    def kinds(self, labels: Array) -> Array:
        """(N, h, w): the classes; 1 for each with ``objectness``."""
        found: Array = labels[:, 0].astype(int)
        return np.minimum(found, 1) if self.objectness else found

    def middles(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """(2, h, w): x and y of the cells."""
        y, x = np.indices(shape[-2:])
        return ((np.stack([x, y]) + 0.5) * self.rate).astype(dtype)

    def encoded(self, boxes: Array) -> Array:
        """What is to be predicted for boxes (N, 4, h, w) of middle and size in pixels."""
        size = self.size.reshape(2, 1, 1)
        near = (boxes[:, :2] - self.middles(boxes.shape, boxes.dtype)) / size
        return np.concatenate([near, np.log(np.maximum(boxes[:, 2:], 2) / size)], axis=1)

    def decoded(self, shifts: Array) -> Array:
        """Boxes (N, 4, h, w) of middle and size in pixels out of predictions."""
        size = self.size.reshape(2, 1, 1)
        near = shifts[:, :2] * size + self.middles(shifts.shape, shifts.dtype)
        return np.concatenate([near, np.exp(shifts[:, 2:]) * size], axis=1)

    def within(self, shifts: Array) -> Array:
        """Predictions, no farther away than a box may be."""
        return np.clip(shifts, -self.limits, self.limits)
