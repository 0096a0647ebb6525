"""Datum: one record of a database, an image and its label."""

from __future__ import annotations

import numpy as np
from google.protobuf.message import DecodeError

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.image import Color, decode
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.proto.wire_format import LEN, VARINT, read_varint

LARGE = 1 << 16  # bytes, from which on a copy costs more than a look at the fields
_HEAD = 64  # bytes, in which the pixels begin
_DATA = 4 << 3 | LEN  # how they are announced


def parse_datum(value: bytes | memoryview) -> Datum:
    """The record's message.

    Raises:
        ValueError: the bytes are something else.
    """
    try:
        return Datum.FromString(value)  # type: ignore[arg-type]
    except DecodeError as e:
        raise ValueError(f"is not a Datum: {e}") from e


def parse_record(value: bytes | memoryview, color: Color = Color.NATIVE) -> tuple[Array, int, bool]:
    """Pixels as ``datum_pixels`` gives them, the label, and whether the image was encoded.

    Raises:
        ValueError: the bytes are no Datum, or its values no image.
    """
    found = _large(memoryview(value)) if len(value) >= LARGE else None
    if found:
        return *found, False
    datum = parse_datum(value)
    return datum_pixels(datum, color), datum.label, datum.encoded


def _large(value: memoryview) -> tuple[Array, int] | None:
    """Raw pixels where they are, because copies would take longer than all the rest.

    None if it does not look like a raw image, or is none.
    """
    head = bytes(value[:_HEAD])
    try:
        at = 0
        while head[at] != _DATA:  # only numbers may be before it
            if head[at] & 7 != VARINT:
                return None
            at += 1
            while head[at] & 0x80:
                at += 1
            at += 1
        size, begin = read_varint(value, at + 1, _HEAD)
        rest = parse_datum(head[:at] + value[begin + size :])
    except (ValueError, IndexError):
        return None
    shape = (rest.channels, rest.height, rest.width)
    if rest.encoded or rest.data or size != shape[0] * shape[1] * shape[2]:
        return None
    return np.frombuffer(value[begin : begin + size], np.uint8).reshape(shape), rest.label


def datum_pixels(datum: Datum, color: Color = Color.NATIVE) -> Array:
    """The values as (channels, height, width): bytes, or floats where there are no bytes.

    ``color`` is for encoded images; raw ones are what they are.

    Raises:
        ValueError: the image cannot be decoded, or there are fewer or more values than it says.
    """
    if datum.encoded:
        return decode(datum.data, color).transpose(2, 0, 1)
    shape = (datum.channels, datum.height, datum.width)
    if datum.data:
        values: Array = np.frombuffer(datum.data, np.uint8)
    else:
        values = np.array(datum.float_data, np.float32)
    if values.size != shape[0] * shape[1] * shape[2]:
        raise ValueError(
            f"has {values.size} values, its channels × height × width are "
            f"{shape[0]} × {shape[1]} × {shape[2]}"
        )
    return values.reshape(shape)
