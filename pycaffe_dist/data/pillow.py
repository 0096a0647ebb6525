"""Pillow, imported when the first image is read or written: all the rest works without it."""

from __future__ import annotations

import io
import os
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from pycaffe_dist.optional import require

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 1 << 25  # of any image; more only
MOST_PIXELS_A_BYTE = 32  # where its file is as large as a photograph's


@cache
def pillow(name: str = "Image") -> ModuleType:
    """One of Pillow's modules.

    Raises:
        MissingPartError: it is not installed.
    """
    return require(f"PIL.{name}", "pillow", "Reading and writing images")


def most_pixels(size: int) -> int:
    """How many pixels an image in a file of so many bytes may have."""
    return max(MOST_PIXELS, MOST_PIXELS_A_BYTE * size)


def open_image(file: str | os.PathLike[str] | io.BytesIO) -> Image:
    """Open a file, by its name or as BytesIO, with Pillow; its pixels are not decoded yet.

    Twenty kilobytes can hold a blank image of gigabytes.

    Raises:
        ValueError: it has more pixels than a file of its size may have.
    """
    image = pillow().open(file)
    size = file.getbuffer().nbytes if isinstance(file, io.BytesIO) else os.path.getsize(file)
    most = most_pixels(size)
    if image.width * image.height > most:
        image.close()
        raise ValueError(
            f"it has {image.width} × {image.height} pixels, more than the {most:,} that are taken "
            f"from a file of {size:,} bytes; make it smaller"
        )
    return image
