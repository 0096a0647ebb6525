"""Images at another size by any of OpenCV's ways, and padded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotations import fitted_size
from pycaffe_dist.data.image import Pixels, resize, step
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import ResizeParameter

Matrix = NDArray[np.float32] | NDArray[np.float64]


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
        return resize(image, height, width, stretch=mode == ResizeParameter.AREA)
    if mode == ResizeParameter.AREA and image.shape[:2] == (2 * height, 2 * width):
        return halved(image)
    pairs = list(zip(image.shape[:2], (height, width), strict=True))
    if mode == ResizeParameter.NEAREST:
        rows, columns = (
            np.minimum((np.arange(new) * step(old, new)).astype(np.intp), old - 1)
            for old, new in pairs
        )
        nearest: Pixels = image[rows[:, None], columns]
        return nearest
    if mode == ResizeParameter.AREA:
        return weighted(image, [area(*sizes) for sizes in pairs])
    kernel, reach, bits = KERNELS[mode]
    return weighted(image, [taps(*sizes, kernel, reach, bits) for sizes in pairs], bits)


def weighted(image: Pixels, matrices: list[Matrix], bits: int = 0) -> Pixels:
    """Each new row and column by its weights of the old; these are whole, in 1/2^bits, if given."""
    down, across = matrices
    rows = np.tensordot(down, image.astype(down.dtype), 1)
    both = np.matmul(across, rows)
    return rounded(np.floor(both / 4**bits + 0.5) if bits else both)


def rounded(values: Array) -> Pixels:
    """To the nearest byte, 0 or 255 where there is none."""
    out: Pixels = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return out


def halved(image: Pixels) -> Pixels:
    """The mean of each four pixels; a half is rounded up, as OpenCV does here alone."""
    wide = image.astype(np.uint16)
    rows = wide[::2] + wide[1::2]
    means: Pixels = ((rows[:, ::2] + rows[:, 1::2] + 2) >> 2).astype(np.uint8)
    return means


def area(size: int, wanted: int) -> Matrix:
    """(wanted, size): the mean over what of the old pixels each new one covers."""
    edges = np.arange(wanted + 1) * (size / wanted)
    low, high = edges[:-1, None], edges[1:, None]
    pixel = np.arange(size)
    covered = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0, None)
    shares: Matrix = (covered / covered.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


Kernel = Callable[[Array], Array]


def taps(size: int, wanted: int, kernel: Kernel, reach: int, bits: int) -> Matrix:
    """(wanted, size): a kernel over ±reach pixels, those beyond the edge taken as the last."""
    at = ((np.arange(wanted) + 0.5) * step(size, wanted) - 0.5).astype(np.float32)
    pixels = np.floor(at)[:, None] + np.arange(1 - reach, reach + 1)
    weights = kernel(at[:, None] - pixels)
    weights /= weights.sum(axis=1, keepdims=True)
    if bits:
        weights = np.rint(weights.astype(np.float32) * 2**bits)
    out = np.zeros((wanted, size))
    places = np.clip(pixels, 0, size - 1).astype(np.intp)
    np.add.at(out, (np.arange(wanted)[:, None], places), weights)
    return out if bits else out.astype(np.float32)


def cubic(x: Array) -> Array:
    """The cubic convolution with a = −¾."""
    a, x = -0.75, abs(x)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def lanczos(x: Array) -> Array:
    """sinc(x)·sinc(x/4), 0 beyond 4."""
    return np.where(abs(x) < 4, np.sinc(x) * np.sinc(x / 4), 0)


# With its reach, and the bits of OpenCV's weights, whose rounding this follows; 0: not rounded.
KERNELS: dict[int, tuple[Kernel, int, int]] = {
    ResizeParameter.CUBIC: (cubic, 2, 0),
    ResizeParameter.LANCZOS4: (lanczos, 4, 11),
}
