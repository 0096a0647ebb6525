"""Python 2's files: ``open(f).read()`` is text and bytes alike, and both may be written."""

from __future__ import annotations

import io

from pycaffe_dist.py2.strings import ENCODING, ERRORS, ByteStr, as_bytes, byte_strs
from pycaffe_dist.py2.values import Value


class TextFile(io.TextIOWrapper):
    """A file opened without ``b``: reads text, from which the bytes can be had again."""

    def write(self, text: Value) -> Value:
        if isinstance(text, str):
            return super().write(text)
        self.flush()
        return self.buffer.write(text)  # bytes, and whatever has some, as arrays do


class Bytes:
    """Reads ByteStr and writes text too."""

    def read(self, *size: int) -> Value:
        return byte_strs(super().read(*size))  # type: ignore[misc]

    def readline(self, *size: Value) -> Value:
        return byte_strs(super().readline(*size))  # type: ignore[misc]

    def readlines(self, *hint: Value) -> Value:
        return byte_strs(super().readlines(*hint))  # type: ignore[misc]

    def __next__(self) -> ByteStr:
        return ByteStr(super().__next__())  # type: ignore[misc]

    def write(self, text: Value) -> Value:
        return super().write(as_bytes(text))  # type: ignore[misc]


class ByteReader(Bytes, io.BufferedReader): ...  # type: ignore[misc]


class ByteWriter(Bytes, io.BufferedWriter): ...  # type: ignore[misc]


class ByteRandom(Bytes, io.BufferedRandom): ...  # type: ignore[misc]


class StringIO(Bytes, io.BytesIO):  # type: ignore[misc]
    """StringIO and cStringIO: of text or of bytes."""

    def __init__(self, initial: Value = b"") -> None:
        super().__init__(as_bytes(initial))

    def getvalue(self) -> ByteStr:
        return ByteStr(super().getvalue())


def open(name: Value, mode: str = "r", buffering: int = -1) -> Value:
    """As Python 2's on Linux: a line ends in a line feed only, and no encoding is checked."""
    plain = mode.replace("b", "").replace("U", "").replace("t", "") or "r"
    raw = io.FileIO(name if isinstance(name, int) else str(name), plain)
    if "+" in plain:
        file: Value = ByteRandom(raw)
    else:
        file = ByteReader(raw) if plain == "r" else ByteWriter(raw)
    if "b" in mode:
        return file
    newline = None if "U" in mode else "\n"
    whole_lines = buffering == 1
    return TextFile(file, ENCODING, ERRORS, newline, line_buffering=whole_lines)


def as_binary(file: Value) -> Value:
    """The bytes of a file that may have been opened as text."""
    return file.buffer if isinstance(file, io.TextIOWrapper) else file
