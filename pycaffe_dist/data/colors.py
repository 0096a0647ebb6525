"""Colours of byte images, blue first, as OpenCV converts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.scaling import rounded

_DIVIDED = np.zeros((2, 256), np.int32)  # 255/i and 30/i in 1/4096, as its tables have them
_DIVIDED[:, 1:] = np.rint(np.outer([255 << 12, 30 << 12], 1 / np.arange(1, 256)))
# Which of v, v(1 − s), v(1 − sf), v(1 − s(1 − f)) is blue, green and red in each sixth of the hues.
_SECTORS = np.array([[1, 3, 0], [1, 0, 2], [3, 0, 1], [0, 2, 1], [0, 1, 3], [2, 1, 0]])


def gray(image: Pixels) -> Pixels:
    """Brightness (height, width, 1)."""
    weights = np.array([1868, 9617, 4899], np.int32)
    out: Pixels = _whole(image.astype(np.int32) @ weights).astype(np.uint8)
    return out[:, :, None]


def to_hsv(image: Pixels) -> Pixels:
    """Hue from 0 to 179, saturation and value from 0 to 255."""
    b, g, r = (image[:, :, i].astype(np.int32) for i in range(3))
    value = np.maximum(np.maximum(b, g), r)
    spread = value - np.minimum(np.minimum(b, g), r)
    saturation = (spread * _DIVIDED[0][value] + (1 << 11)) >> 12
    hue = np.where(value == r, g - b, np.where(value == g, b - r + 2 * spread, r - g + 4 * spread))
    hue = (hue * _DIVIDED[1][spread] + (1 << 11)) >> 12
    hue += 180 * (hue < 0)
    return np.stack([hue, saturation, value], axis=2).astype(np.uint8)


def from_hsv(image: Pixels) -> Pixels:
    """The inverse of ``to_hsv``; hues beyond 179 go round."""
    turn, depth, value = (image[:, :, i].astype(np.float32) for i in range(3))
    hue, saturation = turn / 30 % 6, depth / 255
    sector = hue.astype(np.intp) % 6
    part = hue - np.floor(hue)
    shades = np.stack(
        [
            value,
            value * (1 - saturation),
            value * (1 - saturation * part),
            value * (1 - saturation * (1 - part)),
        ],
        axis=2,
    )
    return rounded(np.take_along_axis(shades, _SECTORS[sector], axis=2))


def to_ycrcb(image: Pixels) -> Pixels:
    """Of the brightness as a whole number, as OpenCV does; weights are in 1/16384."""
    b, g, r = (image[:, :, i].astype(np.int32) for i in range(3))
    y = _whole(1868 * b + 9617 * g + 4899 * r)
    parts = [y, _whole(11682 * (r - y)) + 128, _whole(9241 * (b - y)) + 128]
    return np.stack(parts, axis=2).clip(0, 255).astype(np.uint8)


def from_ycrcb(image: Pixels) -> Pixels:
    y, cr, cb = (image[:, :, i].astype(np.int32) for i in range(3))
    cr, cb = cr - 128, cb - 128
    parts = [y + _whole(29049 * cb), y + _whole(-11698 * cr - 5636 * cb), y + _whole(22987 * cr)]
    return np.stack(parts, axis=2).clip(0, 255).astype(np.uint8)


def _whole(values: Array) -> Array:
    """Of numbers in 1/16384 the nearest whole ones."""
    nearest: Array = (values + (1 << 13)) >> 14
    return nearest


def to_lab(image: Pixels) -> NDArray[np.float32]:
    """CIE L*a*b* of sRGB, as floats: L from 0 to 100."""
    given = image[:, :, ::-1].astype(np.float64) / 255
    linear = np.where(given > 0.04045, ((given + 0.055) / 1.055) ** 2.4, given / 12.92)
    matrix = np.array(
        [
            [0.412453, 0.357580, 0.180423],
            [0.212671, 0.715160, 0.072169],
            [0.019334, 0.119193, 0.950227],
        ]
    )
    xyz = linear @ (matrix / np.array([[0.950456], [1], [1.088754]])).T
    root: Array = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = (root[:, :, i] for i in range(3))
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=2).astype(np.float32)
