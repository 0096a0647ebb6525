"""Lists of images: a path and a label a line."""

from __future__ import annotations

import re

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes

_WHOLE = re.compile(r"([+-]?\d+)(\.0*)?")
_LARGEST = 2**31 - 1  # a record's label has 32 bits


def read_image_list(path: str) -> list[tuple[str, int]]:
    """Paths and labels; the last space of a line is between them, others belong to the path.

    In a list without labels, of lines without a space, every label is 0.

    Raises:
        FileError: the list cannot be read, is empty, or a label is missing or no whole number.
    """
    text = read_bytes(path).decode(errors="surrogateescape")
    lines = [(n, line.rstrip()) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise FileError(f"{path}: lists no images")
    if not any(" " in line for _, line in lines):
        return [(line, 0) for _, line in lines]
    entries = []
    for number, line in lines:
        name, _, label = line.rpartition(" ")
        try:
            entries.append((name, _label(name, label)))
        except ValueError as e:
            raise FileError(f"{path}:{number}: {e}") from e
    return entries


def _label(name: str, label: str) -> int:
    if not name:
        raise ValueError(f"{label!r} has no label; every other line ends in a space and a label")
    whole = _WHOLE.fullmatch(label)
    if not whole:
        raise ValueError(
            f"the label {label!r} of {name!r} is no whole number. A line is a path, a space and a "
            "number from 0 up; number the classes."
        )
    if not -_LARGEST <= int(whole[1]) <= _LARGEST:
        raise ValueError(f"the label {label} of {name!r} does not fit into 32 bits")
    return int(whole[1])
