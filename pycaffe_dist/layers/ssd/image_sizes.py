"""Boxes in parts of a net's input as pixels of the images, whose sizes a file lists."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto.caffe_pb2 import ResizeParameter


class ImageSizes:
    """Names and sizes of images in the order of a database: lines of ``name height width``."""

    def __init__(self, path: str, resize: ResizeParameter | None = None, count: int = 0) -> None:
        self.resize = resize
        self.names: list[str] = []
        self.sizes: list[tuple[int, int]] = []
        for number, line in enumerate(_lines(path), 1):
            words = line.split()
            if len(words) != 3 or not (words[1] + words[2]).isdigit():
                raise FileError(f'{path}:{number}: expected "name height width", found {line!r}')
            self.names.append(words[0])
            self.sizes.append((int(words[1]), int(words[2])))
        if count > len(self.sizes):
            raise FileError(f"{path}: has {len(self.sizes)} images, {count} are expected")
        self.names, self.sizes = self.names[: count or None], self.sizes[: count or None]

    @property
    def known(self) -> bool:
        return bool(self.sizes)

    def to_pixels(self, boxes: Array, image: int) -> Array:
        """Boxes of an image by its number (which goes round) as pixels; without sizes, as given."""
        if not self.sizes:
            return boxes
        return in_pixels(boxes, self.sizes[image % len(self.sizes)], self.resize)


def in_pixels(boxes: Array, size: tuple[int, int], resize: ResizeParameter | None = None) -> Array:
    """Boxes in parts of a net's input as pixels of the image, whose height and width are ``size``.

    What ``resize`` added around the image is taken off; then boxes are cut to it.
    """
    height, width = size
    inner = _inner(resize, height, width)
    part = (boxes - np.tile(inner[:2], 2)) / np.tile(inner[2:] - inner[:2], 2)
    scale = width, height
    small = ResizeParameter.FIT_SMALL_SIZE
    if resize is not None and resize.resize_mode == small and resize.height_scale:
        scale = resize.width_scale, resize.height_scale
    pixels: Array = np.clip(part, 0, 1) * (*scale, *scale)
    return pixels.astype(boxes.dtype)


def _inner(resize: ResizeParameter | None, height: int, width: int) -> Array:
    """Where in the net's input the image is: all of it, but for padding."""
    whole = np.array([0.0, 0.0, 1.0, 1.0])
    if resize is None or resize.resize_mode != ResizeParameter.FIT_LARGE_SIZE_AND_PAD:
        return whole
    aspect = width / height
    if aspect > resize.width / resize.height:
        pad = (resize.height - resize.width / aspect) / 2 / resize.height
        return np.array([0, pad, 1, 1 - pad])
    pad = (resize.width - aspect * resize.height) / 2 / resize.width
    return np.array([pad, 0, 1 - pad, 1])


def _lines(path: str) -> list[str]:
    text = read_bytes(path).decode("utf-8", "surrogateescape") if path else ""
    return [line for line in text.splitlines() if line.strip()]
