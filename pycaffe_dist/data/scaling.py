"""Images at another size by any of OpenCV's ways, and padded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotations import fitted_size
from pycaffe_dist.data.image import Pixels, resize
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import ResizeParameter

Matrix = NDArray[np.float32]


def apply_resize(image: Pixels, param: ResizeParameter, rng: np.random.Generator) -> Pixels:
    """What resize_param makes of an image; of several ``interp_mode`` one is drawn."""
    modes = list(param.interp_mode) or [ResizeParameter.LINEAR]
    mode = modes[rng.integers(len(modes))] if len(modes) > 1 else modes[0]
    height, width = fitted_size(param, *image.shape[:2])
    if min(height, width) < 1:
        raise NetError(f"resize_param leaves {height} × {width} pixels")
    scaled = resize_by(image, height, width, mode)
    if param.resize_mode == ResizeParameter.FIT_LARGE_SIZE_AND_PAD:
        return padded(scaled, param)
    return scaled


def padded(image: Pixels, param: ResizeParameter) -> Pixels:
    """An image in the middle of ``height`` × ``width``, with a border of pad_mode's kind."""
    height, width, channels = image.shape
    room = param.height - height, param.width - width
    sides = [(side // 2, side - side // 2) for side in room]
    if param.pad_mode == ResizeParameter.CONSTANT:
        values = list(param.pad_value) or [0]
        if len(values) not in (1, channels):
            raise NetError(f"{len(values)} pad_value for {channels} channels; give 1 or all")
        out: Pixels = np.empty((param.height, param.width, channels), np.uint8)
        out[...] = np.array(values).astype(np.uint8)
        (top, _), (left, _) = sides
        out[top : top + height, left : left + width] = image
        return out
    mirrored = param.pad_mode == ResizeParameter.MIRRORED
    return np.pad(image, [*sides, (0, 0)], "reflect" if mirrored else "edge")


def resize_by(image: Pixels, height: int, width: int, mode: int) -> Pixels:
    """``mode`` is one of resize_param's: LINEAR, AREA, NEAREST, CUBIC or LANCZOS4."""
    if image.shape[:2] == (height, width):
        return image
    shrinks = height <= image.shape[0] and width <= image.shape[1]
    if mode == ResizeParameter.LINEAR or (mode == ResizeParameter.AREA and not shrinks):
        return resize(image, height, width)
    if mode == ResizeParameter.NEAREST:
        rows, columns = (
            np.minimum((np.arange(new) * (old / new)).astype(np.intp), old - 1)
            for old, new in zip(image.shape[:2], (height, width), strict=True)
        )
        nearest: Pixels = image[rows[:, None], columns]
        return nearest
    matrices = [
        area(old, new) if mode == ResizeParameter.AREA else taps(old, new, *KERNELS[mode])
        for old, new in zip(image.shape[:2], (height, width), strict=True)
    ]
    down, across = matrices
    rows_done = np.tensordot(down, image.astype(np.float32), 1)
    both = np.matmul(across, rows_done)
    return rounded(both)


def rounded(values: Array) -> Pixels:
    """To the nearest byte, 0 or 255 where there is none."""
    out: Pixels = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return out


def area(size: int, wanted: int) -> Matrix:
    """(wanted, size): the mean over what of the old pixels each new one covers."""
    edges = np.arange(wanted + 1) * (size / wanted)
    low, high = edges[:-1, None], edges[1:, None]
    pixel = np.arange(size)
    covered = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0, None)
    shares: Matrix = (covered / covered.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


Kernel = Callable[[Array], Array]


def taps(size: int, wanted: int, kernel: Kernel, reach: int) -> Matrix:
    """(wanted, size): a kernel over ±reach pixels, those beyond the edge taken as the last."""
    at = (np.arange(wanted) + 0.5) * (size / wanted) - 0.5
    pixels = np.floor(at)[:, None] + np.arange(1 - reach, reach + 1)
    weights = kernel(at[:, None] - pixels)
    weights /= weights.sum(axis=1, keepdims=True)
    out = np.zeros((wanted, size))
    places = np.clip(pixels, 0, size - 1).astype(np.intp)
    np.add.at(out, (np.arange(wanted)[:, None], places), weights)
    return out.astype(np.float32)


def cubic(x: Array) -> Array:
    """The cubic convolution with a = −¾."""
    a, x = -0.75, abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def lanczos(x: Array) -> Array:
    """sinc(x)·sinc(x/4), 0 beyond 4."""
    return np.where(abs(x) < 4, np.sinc(x) * np.sinc(x / 4), 0)


KERNELS: dict[int, tuple[Kernel, int]] = {
    ResizeParameter.CUBIC: (cubic, 2),
    ResizeParameter.LANCZOS4: (lanczos, 4),
}
