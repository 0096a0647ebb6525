"""Datum: one record of a database, an image and its label."""

from __future__ import annotations

import numpy as np
from google.protobuf.message import DecodeError

from pycaffe_dist.data.image import Color, decode
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import Datum


def parse_datum(value: bytes | memoryview) -> Datum:
    """The record's message.

    Raises:
        ValueError: the bytes are something else.
    """
    try:
        return Datum.FromString(value)  # type: ignore[arg-type]
    except DecodeError as e:
        raise ValueError(f"is not a Datum: {e}") from e


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
