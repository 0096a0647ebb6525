"""Images as OpenCV gives them: (height, width, channels) of bytes, blue first."""

from __future__ import annotations

import io
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.pillow import open_image, pillow
from pycaffe_dist.data.turbo import turbo_decode
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]

_LIBPNG_GRAY = np.array([9797, 19234, 3737], np.int32)  # red, green, blue in 1/32768


class Color(Enum):
    """What an image is decoded to."""

    COLOR = "color"  # three channels
    GRAY = "gray"  # one
    NATIVE = "native"  # as many as the file has: 1, 3, or 4 with alpha


def read_image(path: str, height: int = 0, width: int = 0, color: Color = Color.COLOR) -> Pixels:
    """Read an image file and, if both are given, bring it to ``height`` × ``width``.

    Raises:
        FileError: there is no such file, or it is not an image.
    """
    try:
        image = decode(read_bytes(path), color)
    except ValueError as e:
        raise FileError(f"{path}: {e}") from e
    return resize(image, height, width) if height and width else image


def decode(encoded: bytes, color: Color) -> Pixels:
    """The pixels of a JPEG, PNG or other image file.

    Raises:
        ValueError: the bytes are not an image, are damaged, or have more than 8 bits a channel
            where they are wanted as they are.
    """
    if color is not Color.GRAY:
        pixels = turbo_decode(encoded, upright=color is Color.COLOR)
        if pixels is not None:
            return pixels
    Image = pillow()
    try:
        image = open_image(io.BytesIO(encoded))
        if color is Color.GRAY:
            image.draft("L", image.size)  # a JPEG's own brightness, not one computed from colours
        image.load()
    except Image.UnidentifiedImageError as e:
        raise ValueError(f"is not a readable image: it begins with {encoded[:8]!r}") from e
    except Exception as e:  # a decoder may meet anything in a damaged file
        raise ValueError(f"is not a readable image: {e}") from e
    if color is Color.NATIVE:
        return _native(image)
    pillow("ImageOps").exif_transpose(image, in_place=True)
    eight = _upper_bits(image) if image.mode.startswith("I") else image
    if color is Color.GRAY:
        return _gray(eight, image.format)
    return _blue_first(eight, "RGB")


def _gray(image: Image, file_format: str | None) -> Pixels:
    if file_format == "PNG" and image.mode not in ("1", "L", "LA"):
        # OpenCV leaves this to libpng, which does not round.
        colors = np.asarray(image.convert("RGB")).astype(np.int32)
        gray: Pixels = ((colors @ _LIBPNG_GRAY) >> 15).astype(np.uint8)
    else:
        gray = np.asarray(_converted(image, "L"))
    return gray[:, :, None]


def _upper_bits(image: Image) -> Image:
    """16 bits of grey as 8."""
    return pillow().fromarray((np.asarray(image) >> 8).astype(np.uint8))


def _native(image: Image) -> Pixels:
    if image.mode.startswith(("I", "F")):
        raise ValueError("has more than 8 bits a channel; force_color or force_gray makes it 8")
    if image.mode in ("1", "L"):
        return np.asarray(image.convert("L"))[:, :, None]
    alpha = image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info
    return _blue_first(image, "RGBA" if alpha else "RGB")


def _converted(image: Image, mode: str) -> Image:
    """As Pillow does it, but of a JPEG's four inks as OpenCV does.

    There cyan, magenta, yellow and black stand inverted, as Adobe stores them, with or without
    its mark: red = k − ⌊(255 − c) k / 256⌋, and so green of m and blue of y.
    """
    if image.mode == "CMYK" and image.format == "JPEG":
        stored = 255 - np.asarray(image).astype(np.int32)  # Pillow has inverted them
        inks, black = stored[:, :, :3], stored[:, :, 3:]
        image = pillow().fromarray((black - ((255 - inks) * black >> 8)).astype(np.uint8))
    return image if image.mode == mode else image.convert(mode)


def _blue_first(image: Image, mode: str) -> Pixels:
    image = _converted(image, mode)
    # A plane after the other, as a net takes them: it reads them in order.
    planes = np.empty((len(mode), image.height, image.width), np.uint8)
    for plane, band in zip(planes, "BGRA", strict=False):
        plane.reshape(-1)[:] = np.frombuffer(image.tobytes("raw", band), np.uint8)
    return planes.transpose(1, 2, 0)


# -- resizing --------------------------------------------------------------------------------------

_BITS = 11  # of OpenCV's weights, whose rounding this follows


def resize(image: Pixels, height: int, width: int, stretch: bool = False) -> Pixels:
    """Bilinear, pixel centres on pixel centres: OpenCV's INTER_LINEAR.

    ``stretch`` is its INTER_AREA where an image grows: pixels are drawn wide, and mixed only where
    two of them meet within a new one.
    """
    if image.shape[:2] == (height, width):
        return image
    between = _meeting if stretch else _centred
    left, right, across = _taps(image.shape[1], width, between)
    above, below, down = _taps(image.shape[0], height, between, split=True)
    wide = image.astype(np.int32)
    rows = wide[:, left] * across[0][:, None] + wide[:, right] * across[1][:, None]
    rows >>= 4
    upper = rows[above] * down[0][:, None, None]
    lower = rows[below] * down[1][:, None, None]
    upper >>= 16
    lower >>= 16
    upper += lower
    upper += 2
    upper >>= 2
    scaled: Pixels = upper.astype(np.uint8)
    return scaled


def step(size: int, wanted: int) -> float:
    """How many old pixels there are for each new one, to the last bit of OpenCV's."""
    return 1 / (wanted / size)


Between = Callable[[int, int], tuple[Array, Array]]


def _centred(size: int, wanted: int) -> tuple[Array, Array]:
    """For each new position the last old one before it, and the weight of the one behind that."""
    at = ((np.arange(wanted) + 0.5) * step(size, wanted) - 0.5).astype(np.float32)
    first = np.floor(at).astype(np.intp)
    return first, at - first.astype(np.float32)


def _meeting(size: int, wanted: int) -> tuple[Array, Array]:
    new = np.arange(wanted)
    first = np.floor(new * step(size, wanted)).astype(np.intp)
    beyond = ((new + 1) - (first + 1) * (wanted / size)).astype(np.float32)
    return first, np.where(beyond <= 0, 0, beyond - np.floor(beyond))


def _taps(
    size: int, wanted: int, between: Between, split: bool = False
) -> tuple[Array, Array, Array]:
    """For each new position the two old ones it lies between, and their weights in 1/2048.

    Beyond the outermost pixel that one alone counts; ``split`` in two parts, rounded apart.
    """
    first, weight = between(size, wanted)
    if not split:
        weight[(first < 0) | (first >= size - 1)] = 0
    one = 1 << _BITS
    weights = np.rint([(1 - weight) * one, weight * one]).astype(np.int32)
    return np.clip(first, 0, size - 1), np.clip(first + 1, 0, size - 1), weights
