"""Python 2's str: bytes that are text wherever text is wanted."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator

from pycaffe_dist.py2.values import Value

ENCODING, ERRORS = "utf-8", "surrogateescape"  # any bytes become text, and the same bytes again
OURS = "_py2"  # a translated module knows this package by this name


class ByteStr(bytes):
    """Bytes from files, databases and messages, for a script that takes them for text.

    Whatever is asked of them with a str gives a str; ``b[0]`` is a character for translated modules
    and, as Python 3 has it, a number for all others.
    """

    def __str__(self) -> str:
        return bytes.decode(self, ENCODING, ERRORS)

    def __repr__(self) -> str:
        return super().__repr__()[1:]

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __hash__(self) -> int:
        return super().__hash__()  # in CPython that of the str, as long as it is ASCII

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return super().__eq__(other)
        # Text that was read, or bytes that were written as '\xff\xd8'.
        return super().__eq__(as_bytes(other)) or bytes(self).decode("latin-1") == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Value) -> bool:
        return bool(bytes(self) < as_bytes(other))

    def __le__(self, other: Value) -> bool:
        return bool(bytes(self) <= as_bytes(other))

    def __gt__(self, other: Value) -> bool:
        return bool(bytes(self) > as_bytes(other))

    def __ge__(self, other: Value) -> bool:
        return bool(bytes(self) >= as_bytes(other))

    def __add__(self, other: Value) -> Value:
        return str(self) + other if isinstance(other, str) else ByteStr(bytes(self) + bytes(other))

    def __radd__(self, other: Value) -> Value:
        return other + str(self) if isinstance(other, str) else ByteStr(bytes(other) + bytes(self))

    def __mul__(self, times: Value) -> ByteStr:
        return ByteStr(bytes(self) * times)

    def __mod__(self, values: Value) -> Value:
        return str(self) % values

    def __contains__(self, part: Value) -> bool:
        return super().__contains__(as_bytes(part) if isinstance(part, str) else part)

    def __getitem__(self, index: Value) -> Value:
        if isinstance(index, slice):
            return ByteStr(super().__getitem__(index))
        number = super().__getitem__(index)
        return ByteStr([number]) if _asked_by_python2() else number

    def __iter__(self) -> Iterator[Value]:
        return (
            iter([ByteStr([n]) for n in bytes(self)]) if _asked_by_python2() else super().__iter__()
        )

    def encode(self, encoding: str = ENCODING, errors: str = "strict") -> Value:
        return encode(self, encoding, errors)

    def format(self, *args: Value, **kwargs: Value) -> str:
        return str(self).format(*args, **kwargs)

    def join(self, parts: Value) -> Value:
        listed = list(parts)
        if any(isinstance(part, str) for part in listed):
            return str(self).join(map(str, listed))
        return ByteStr(super().join(listed))

    def decode(self, encoding: str = ENCODING, errors: str = "strict") -> Value:
        return decode(self, encoding, errors)


def _taking_text(name: str) -> Value:
    """A method of bytes that takes str for bytes, and gives ByteStr."""
    method = getattr(bytes, name)

    def call(self: ByteStr, *args: Value, **kwargs: Value) -> Value:
        return byte_strs(method(self, *map(_bytes_within, args), **kwargs))

    return call


def _bytes_within(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(map(_bytes_within, value))
    return as_bytes(value) if isinstance(value, str) else value


_TAKING_TEXT: tuple[str, ...] = ("capitalize", "center", "count", "endswith", "find", "index")
_TAKING_TEXT += ("lower", "ljust")
_TAKING_TEXT += ("lstrip", "partition", "replace", "rfind", "rindex", "rjust", "rpartition")
_TAKING_TEXT += ("rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase")
_TAKING_TEXT += ("title", "upper", "zfill")
for _name in _TAKING_TEXT:
    setattr(ByteStr, _name, _taking_text(_name))


def byte_strs(value: Value) -> Value:
    """Bytes, also those in a list or tuple, as ByteStr."""
    if isinstance(value, bytes):
        return value if isinstance(value, ByteStr) else ByteStr(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(byte_strs, value))
    return value


def as_bytes(value: Value) -> Value:
    """Text as the bytes it came from; other values as they are."""
    return value.encode(ENCODING, ERRORS) if isinstance(value, str) else value


def join(separator: Value, *args: Value) -> Value:
    """``separator.join(parts)``, also of bytes that are text, and ``os.path.join(...)``."""
    if isinstance(separator, str) and len(args) == 1:
        return separator.join([_text(part) for part in args[0]])
    return separator.join(*map(_text, args))


def _text(value: Value) -> Value:
    return str(value) if isinstance(value, ByteStr) else value


def _asked_by_python2() -> bool:
    return OURS in sys._getframe(2).f_globals


# -- codecs ----------------------------------------------------------------------------------------

_BINARY = {"hex", "base64", "zlib", "bz2", "zip", "uu", "quopri"}  # from bytes to bytes


def encode(value: Value, encoding: str = ENCODING, errors: str = "strict") -> Value:
    """``value.encode(...)``; what has an ``encode`` of its own, and is no text, keeps it."""
    name = encoding.lower().removesuffix("-codec").removesuffix("_codec")
    if not isinstance(value, (str, bytes)):
        return value.encode(encoding, errors)
    if name in _BINARY:
        return byte_strs(codecs.encode(as_bytes(value), name))
    if name in ("rot13", "rot_13"):
        return codecs.encode(str(value), name)
    if isinstance(value, bytes) or name.replace("-", "").replace("_", "") == "utf8":
        return ByteStr(as_bytes(value))
    return ByteStr(value.encode(name, errors))


def decode(value: Value, encoding: str = ENCODING, errors: str = "strict") -> Value:
    """``value.decode(...)``, also of text, which has none in Python 3."""
    name = encoding.lower().removesuffix("-codec").removesuffix("_codec")
    if not isinstance(value, (str, bytes)):
        return value.decode(encoding, errors)
    if name in _BINARY:
        return byte_strs(codecs.decode(as_bytes(value), name))
    if name in ("string_escape", "string-escape"):
        return bytes(value, "latin-1").decode("unicode_escape")  # type: ignore[arg-type]
    if isinstance(value, str):
        value = as_bytes(value)
    return bytes(value).decode(name, errors)
