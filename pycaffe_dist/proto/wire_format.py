"""Protobuf's binary encoding, read and written in place: fields of a buffer, without copies.

Only what weight files need.  A field is a tag (number << 3 | wire type) and a value: a varint, 4 or
8 bytes, or a length and as many bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VARINT, I64, LEN, I32 = 0, 1, 2, 5
_FIXED = {I64: 8, I32: 4}
MOST_BYTES = (1 << 31) - 1  # protobuf's limit for one message


class WireError(ValueError):
    """Bytes that are no protobuf message; ``at`` is the offset."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


class Field(NamedTuple):
    """One field of a message: its value is ``value`` (varint) or the bytes ``begin:end``."""

    number: int
    wire: int
    value: int
    begin: int
    end: int


def read_varint(buffer: memoryview | bytes | mmap, at: int, end: int) -> tuple[int, int]:
    """The varint at ``at`` and the offset behind it."""
    value = shift = 0
    for i in range(at, min(at + 10, end)):
        byte = buffer[i]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, i + 1
        shift += 7
    if at + 10 > end:
        raise WireError(end, "ends in the middle of a number")
    raise WireError(at, "holds a number longer than 10 bytes")


def next_field(buffer: memoryview, at: int, end: int) -> Field:
    """The field at ``at`` in a message that ends at ``end``; the next one is at its ``end``.

    Raises:
        WireError: the bytes do not form a field.
    """
    tag, after = read_varint(buffer, at, end)
    number, wire = tag >> 3, tag & 7
    if not 0 < number < 1 << 29:
        raise WireError(at, f"holds the impossible field number {number}")
    if wire == VARINT:
        value, after = read_varint(buffer, after, end)
        return Field(number, wire, value, after, after)
    if wire == LEN:
        size, after = read_varint(buffer, after, end)
    elif wire in _FIXED:
        size = _FIXED[wire]
    else:
        raise WireError(at, f"holds field {number} with the unknown wire type {wire}")
    if size > end - after:
        raise WireError(
            end, f"ends in the middle of a value of {size:,} bytes ({end - after:,} are there)"
        )
    return Field(number, wire, 0, after, after + size)


def fields(buffer: memoryview, begin: int, end: int) -> Iterator[Field]:
    """All fields of the message in ``buffer[begin:end]``."""
    while begin < end:
        field = next_field(buffer, begin, end)
        yield field
        begin = field.end


def signed(value: int) -> int:
    """A varint as the int32 or int64 it stands for."""
    return value - (1 << 64) if value >= 1 << 63 else value


def packed_varints(buffer: memoryview, begin: int, end: int) -> list[int]:
    values = []
    while begin < end:
        value, begin = read_varint(buffer, begin, end)
        values.append(signed(value))
    return values


def repeated_run(
    buffer: memoryview, field: Field, end: int, dtype: str
) -> tuple[NDArray[np.generic], int]:
    """The values of an unpacked repeated field from ``field`` on, and the offset behind them.

    Each value has its own one-byte tag, so that a run of them is an array of (tag, value) records.
    """
    record = np.dtype([("tag", "u1"), ("value", dtype)])
    begin = field.begin - 1
    records = np.frombuffer(buffer, record, (end - begin) // record.itemsize, begin)
    count, window = 1, 64
    while count < records.size:  # in growing steps: a file may be nothing but short runs
        other = np.flatnonzero(records["tag"][count : count + window] != records["tag"][0])
        if other.size:
            count += int(other[0])
            break
        count, window = min(count + window, records.size), window * 2
    return records["value"][:count], begin + count * record.itemsize


# -- writing --------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    if value < 0:
        value += 1 << 64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def head(number: int, size: int) -> bytes:
    """The tag and length in front of ``size`` bytes of field ``number``."""
    return varint(number << 3 | LEN) + varint(size)
