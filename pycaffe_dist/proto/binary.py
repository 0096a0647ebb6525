"""Whole binary messages, every field of them; for weights alone :mod:`weights` is faster."""

from __future__ import annotations

import os
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.seal import load
from pycaffe_dist.proto.sniff import describe
from pycaffe_dist.proto.wire_format import MOST_BYTES

M = TypeVar("M", bound=Message)


def read_binary(path: str | os.PathLike[str], message: M) -> M:
    """Parse a binary file into ``message``.

    Raises:
        FileError: the file cannot be read, does not fit its checksum, or is something else.
    """
    raw = load(path, MOST_BYTES)[0].tobytes()
    wanted = f"a binary {message.DESCRIPTOR.name} was expected here"
    kind = describe(raw)
    if kind not in ("binary", "text"):
        raise FileError(f"{path}: is {kind}; {wanted}")
    try:
        message.ParseFromString(raw)
    except DecodeError as e:
        found = "a text file" if kind == "text" else "cut short, damaged or of another kind"
        raise FileError(f"{path}: is {found} ({e}); {wanted}") from e
    return message
