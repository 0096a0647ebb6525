"""Windows of images, for training detectors: the file that lists them, and the warp to a square."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from pycaffe_dist.data.image import Pixels, resize
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes

Number = TypeVar("Number", int, np.float32)


@dataclass(frozen=True)
class Window:
    """A box in an image, its corners included."""

    image: int
    label: int
    x1: int
    y1: int
    x2: int
    y2: int


@dataclass
class WindowFile:
    """Images, and their windows by how much of an object they hold."""

    channels: int = 3
    images: list[str] = field(default_factory=list)
    foreground: list[Window] = field(default_factory=list)
    background: list[Window] = field(default_factory=list)  # labelled 0


def read_window_file(path: str, fg_threshold: float, bg_threshold: float) -> WindowFile:
    """Read ``# index``, path, channels, height, width, n, and n × ``label overlap x1 y1 x2 y2``.

    From an overlap of ``fg_threshold`` on a window is foreground, below ``bg_threshold``
    background; what lies between is left out.

    Raises:
        FileError: the file is empty, or not of this form.
    """
    words = Words(read_bytes(path).decode(errors="surrogateescape"))
    windows = WindowFile()
    try:
        while words.next_image(windows.images[-1:]):
            _read_image(words, windows, np.float32(fg_threshold), np.float32(bg_threshold))
    except ValueError as e:
        raise FileError(f"{path}:{words.line}: {e}") from e
    if not windows.images:
        raise FileError(f"{path}: lists no images")
    for window in (*windows.foreground, *windows.background):
        if not 0 <= window.image < len(windows.images):
            raise FileError(
                f'{path}: there is an image "# {window.image}" among {len(windows.images)} images; '
                "number them from 0"
            )
    return windows


class Words:
    """The words of a text, one after the other, and the line of the last one."""

    def __init__(self, text: str) -> None:
        lines = enumerate(text.split("\n"), 1)
        self._rest = ((number, word) for number, line in lines for word in line.split())
        self.line = 1

    def next(self) -> str:
        """The next word, "" at the end."""
        self.line, word = next(self._rest, (self.line, ""))
        return word

    def next_image(self, last: list[str]) -> bool:
        """Whether there is another image, behind the ``last``; its mark is read."""
        mark = self.next()
        if mark and mark != "#":
            where = f"image {last[0]}" if last else "the beginning"
            raise ValueError(f'after {where}: "# index" was expected, not "{mark}"')
        return bool(mark)

    def number(self, what: str, of: Callable[[str], Number]) -> Number:
        word = self.next()
        try:
            return of(word)
        except ValueError:
            wanted = "a whole number" if of is int else "a number"
            raise ValueError(
                f"the {what} must be {wanted}, not {word!r}"
                if word
                else "the file ends in the middle"
            ) from None


def _read_image(words: Words, windows: WindowFile, fg: np.float32, bg: np.float32) -> None:
    index, name = words.number("image's index", int), words.next()
    windows.images.append(name)
    windows.channels, _, _, count = (
        words.number(what, int) for what in ("number of channels", "height", "width", "count")
    )
    for _ in range(count):
        label, overlap = words.number("label", int), words.number("overlap", np.float32)
        box = [words.number(f"window's {corner}", int) for corner in ("x1", "y1", "x2", "y2")]
        if overlap >= fg:
            if label <= 0:
                raise ValueError(f"a foreground window has the label {label}; it must be above 0")
            windows.foreground.append(Window(index, label, *box))
        elif overlap < bg:
            windows.background.append(Window(index, 0, *box))


# -- the warp --------------------------------------------------------------------------------------


def warp(
    image: Pixels, window: Window, size: int, context_pad: int, square: bool, mirror: bool
) -> tuple[Pixels, int, int]:
    """A window brought to ``size`` × ``size``: pixels, and the row and column they begin at.

    With ``context_pad`` the window is widened so that just so many pixels of its surroundings are
    on each side; ``square`` makes it as wide as it is high.  What lies outside the image is left
    out, and the pixels are fewer than size × size then.
    """
    x1, y1, x2, y2 = window.x1, window.y1, window.x2, window.y2
    pad_x = pad_y = 0
    width = height = size
    if context_pad or square:
        if 2 * context_pad >= size:
            raise ValueError(f"context_pad {context_pad} leaves nothing of crop_size {size}")
        half_x, half_y = np.float32((x2 - x1 + 1) / 2), np.float32((y2 - y1 + 1) / 2)
        centre_x, centre_y = np.float32(x1) + half_x, np.float32(y1) + half_y
        if square:
            half_x = half_y = max(half_x, half_y)
        scale = np.float32(size) / np.float32(size - 2 * context_pad)
        x1, x2, width, before_x, behind_x = _clip(centre_x, half_x * scale, image.shape[1], size)
        y1, y2, height, pad_y, _ = _clip(centre_y, half_y * scale, image.shape[0], size)
        pad_x = behind_x if mirror else before_x
        # Rounding may have made it a pixel too much.
        width, height = min(width, size - pad_x), min(height, size - pad_y)
    inside = 0 <= x1 <= x2 < image.shape[1] and 0 <= y1 <= y2 < image.shape[0]
    if not inside or width < 1 or height < 1:
        raise ValueError(
            f"the window ({window.x1}, {window.y1}) to ({window.x2}, {window.y2}) does not lie in "
            f"an image of {image.shape[1]} × {image.shape[0]}"
        )
    pixels = resize(image[y1 : y2 + 1, x1 : x2 + 1], height, width)
    return pixels[:, ::-1] if mirror else pixels, pad_y, pad_x


def _clip(
    centre: np.float32, half: np.float32, extent: int, size: int
) -> tuple[int, int, int, int, int]:
    """One axis: first and last pixel inside, their number after the warp, and that outside."""
    first, last = _round(centre - half), _round(centre + half)
    before, behind = max(0, -first), max(0, last - extent + 1)
    scale = np.float32(size) / np.float32(last - first + 1)
    first, last = first + before, last - behind
    inside, before, behind = (
        _round(np.float32(n) * scale) for n in (last - first + 1, before, behind)
    )
    return first, last, inside, before, behind


def _round(x: np.float32) -> int:
    """Halves away from zero, as C rounds."""
    return int(math.copysign(math.floor(abs(float(x)) + 0.5), float(x)))
