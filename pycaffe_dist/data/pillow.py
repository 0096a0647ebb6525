"""Pillow, imported when the first image is read or written: all the rest works without it."""

from __future__ import annotations

from functools import cache
from typing import Any

from pycaffe_dist.optional import require


@cache
def pillow(name: str = "Image") -> Any:
    """One of Pillow's modules.

    Raises:
        MissingPartError: it is not installed.
    """
    return require(f"PIL.{name}", "pillow", "Reading and writing images")
