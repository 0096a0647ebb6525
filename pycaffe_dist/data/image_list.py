"""Lists of images: a path and a label a line."""

from __future__ import annotations

import re

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes

_NUMBER = re.compile(r"\s*([+-]?\d+)")


def read_image_list(path: str) -> list[tuple[str, int]]:
    """Paths and labels; the last space of a line is between them, others belong to the path.

    Raises:
        FileError: the list cannot be read, or is empty.
    """
    text = read_bytes(path).decode(errors="surrogateescape")
    entries = [_entry(line) for line in text.split("\n") if line.strip()]
    if not entries:
        raise FileError(f"{path}: lists no images")
    return entries


def _entry(line: str) -> tuple[str, int]:
    """As C's atoi: a label that does not begin with a number is 0."""
    name, _, label = line.rstrip().rpartition(" ")
    number = _NUMBER.match(label)
    return name or label, int(number[1]) if number else 0
