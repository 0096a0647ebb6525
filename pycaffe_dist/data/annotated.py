"""An image with boxes on its way from a record to the net: SSD's order of doing things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotations import (
    Boxes,
    Window,
    extrapolated,
    mirrored,
    projected,
    resized,
)
from pycaffe_dist.data.augment import distort, expand, noise
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.image import Color, Pixels, decode
from pycaffe_dist.data.samplers import sample
from pycaffe_dist.data.scaling import apply_resize
from pycaffe_dist.proto.caffe_pb2 import (
    BatchSampler,
    EmitConstraint,
    ResizeParameter,
    TransformationParameter,
)

COLUMNS = 8  # item, label, instance, xmin, ymin, xmax, ymax, difficult
NO_BOXES: Boxes = np.empty((0, 7), np.float32)
YOLO_ROWS = 300  # boxes of an image in MobileNet-YOLO's form, of 5 numbers each


@dataclass
class Stored:
    """What a record tells besides its pixels: its boxes, or else a label; whether it was a file."""

    boxes: Boxes | None
    label: int
    encoded: bool


@dataclass
class Example:
    """An image (channels, height, width) before its crop, its boxes, its size before resizing."""

    image: Array
    boxes: Boxes
    size: tuple[int, int]


@dataclass
class Pipeline:
    """What becomes of every image.

    Attributes:
        param: the layer's transform_param.
        samplers: its batch samplers.
        mean: the colour of what an image is put into, (channels or 1,), or None for black.
    """

    param: TransformationParameter
    samplers: Sequence[BatchSampler]
    mean: Array | None = None

    @property
    def random(self) -> bool:
        p = self.param
        several = len(p.resize_param) > 1 or any(len(r.interp_mode) > 1 for r in p.resize_param)
        pieces = (p.HasField(name) for name in ("distort_param", "expand_param", "noise_param"))
        return several or bool(self.samplers) or any(pieces)

    def policy(self, seed: int) -> ResizeParameter | None:
        """How a batch is resized: of several ways one by its ``prob``, from the batch's seed."""
        ways = self.param.resize_param
        if len(ways) < 2:
            return ways[0] if ways else None
        shares = np.array([way.prob for way in ways])
        drawn = np.random.default_rng(seed).random() * shares.sum()
        return ways[min(int((np.cumsum(shares) <= drawn).sum()), len(ways) - 1)]

    def augment(
        self, image: Array, stored: Stored, seed: int, policy: ResizeParameter | None
    ) -> Example:
        """Distort, expand, sample, resize and add noise, as far as asked for.

        Each of the first three puts an image that was a file into one again, as SSD does: a JPEG.
        """
        p, rng = self.param, np.random.default_rng(seed)
        pixels = image.transpose(1, 2, 0)
        boxes = NO_BOXES if stored.boxes is None else stored.boxes
        again = through_jpeg if stored.encoded else np.asarray
        if p.HasField("distort_param"):
            pixels = again(distort(pixels, p.distort_param, rng))
        larger = (
            expand(pixels, p.expand_param, self.mean, rng) if p.HasField("expand_param") else None
        )
        if larger is not None:
            pixels, boxes = again(larger[0]), projected(boxes, larger[1], self._emit())
        window = sample(self.samplers, boxes, rng) if self.samplers else None
        if window is not None:
            pixels = again(cut(pixels, window))
            boxes = projected(boxes, window, self._emit())
        size = pixels.shape[:2]
        if policy is not None:
            boxes = resized(boxes, policy, *size)
            pixels = apply_resize(pixels, policy, rng)
        if p.HasField("noise_param"):
            pixels = noise(pixels, p.noise_param, rng)
        return Example(pixels.transpose(2, 0, 1), boxes, size)

    def placed(
        self,
        example: Example,
        place: tuple[int, int, int],
        crop: tuple[int, ...],
        policy: ResizeParameter | None,
    ) -> Boxes:
        """The boxes of a crop (height, width).

        ``place``: whether the image is mirrored, then its top and left in what it is then.
        """
        (turned, top, left), (height, width) = place, crop
        sides = np.array(example.image.shape[:0:-1] * 2, np.float32)
        left = example.image.shape[2] - width - left if turned else left
        window = np.array([left, top, left + width, top + height], np.float32) / sides
        boxes = projected(example.boxes, window, self._emit())
        if turned:
            boxes = mirrored(boxes)
        if policy is None:
            return boxes
        return extrapolated(boxes, policy, example.size, window)

    def _emit(self) -> EmitConstraint | None:
        return self.param.emit_constraint if self.param.HasField("emit_constraint") else None


def through_jpeg(image: Pixels) -> Pixels:
    """An image as it is after it was stored; one with alpha, which a JPEG cannot have, as it is."""
    channels = image.shape[2]
    if channels not in (1, 3):
        return image
    return decode(encode(image, "jpg"), Color.GRAY if channels == 1 else Color.COLOR)


def cut(image: Pixels, window: Window) -> Pixels:
    """The part of an image that is in a window; at least a pixel of it."""
    height, width = image.shape[:2]
    x1, y1, x2, y2 = np.clip(window, 0, 1) * np.array([width, height, width, height], np.float32)
    top, left = min(int(y1), height - 1), min(int(x1), width - 1)
    return image[top : top + max(1, int(y2 - y1)), left : left + max(1, int(x2 - x1))]


# -- labels ----------------------------------------------------------------------------------------


def in_rows(boxes: Sequence[Boxes]) -> Array:
    """(1, 1, R, 8): the boxes of all items behind the item's number; −1 if there are none."""
    rows = [np.insert(own, 0, item, axis=1) for item, own in enumerate(boxes)]
    whole = np.concatenate(rows)
    if not len(whole):
        whole = np.full((1, COLUMNS), -1, np.float32)
    return whole[None, None]


def in_yolos_form(boxes: Sequence[Boxes]) -> Array:
    """(N, 1, 300, 5): class from 0, centre and size of the first 300 boxes, else 0."""
    out = np.zeros((len(boxes), 1, YOLO_ROWS, 5), np.float32)
    for room, own in zip(out[:, 0], boxes, strict=True):
        own = own[:YOLO_ROWS]
        first, last = own[:, 2:4], own[:, 4:6]
        room[: len(own), 0] = own[:, 0] - 1
        room[: len(own), 1:3] = (first + last) / 2
        room[: len(own), 3:] = last - first
    return out
