"""BlobProto as arrays: floats straight from a file's buffer, and straight to a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.proto import wire_format
from pycaffe_dist.proto.wire_format import I32, I64, LEN, VARINT, WireError

# BlobProto's fields.
_LEGACY = (1, 2, 3, 4)  # num, channels, height, width
_DATA, _DIFF, _SHAPE, _DOUBLE_DATA, _DOUBLE_DIFF = 5, 6, 7, 8, 9
_VALUES = {_DATA: "<f4", _DIFF: "<f4", _DOUBLE_DATA: "<f8", _DOUBLE_DIFF: "<f8"}
# NVCaffe stores values as raw bytes of a named type.
_RAW_TYPE, _RAW_DATA = 10, 12
_RAW_TYPES = {0: "<f8", 1: "<f4", 2: "<f2"}

MOST_AXES = 32  # Caffe's limit


@dataclass
class BlobArray:
    """One stored array.

    ``data`` may be a view of the file's buffer, and then is read-only and perhaps unaligned: copy
    it to where it is wanted.  ``legacy`` blobs come from files with four fixed dimensions.
    """

    data: Array
    diff: Array | None = None
    legacy: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Caffe's rule for loading this blob into one of ``shape``.

        A legacy blob is compared in four dimensions, the target's padded with ones on the left.
        """
        if not self.legacy:
            return self.shape == tuple(shape)
        return len(shape) <= 4 and self.shape == (1,) * (4 - len(shape)) + tuple(shape)


def read_blob(buffer: memoryview, begin: int, end: int) -> BlobArray:
    """The BlobProto in ``buffer[begin:end]``.

    Raises:
        WireError: the bytes are no BlobProto, or shape and values do not agree.
    """
    legacy: dict[int, int] = {}
    shape: list[int] | None = None
    values: dict[int, list[Array]] = {}
    raw: tuple[int, int] | None = None
    raw_type = 1
    at = begin
    while at < end:
        field = wire_format.next_field(buffer, at, end)
        number, kind, at = field.number, field.wire, field.end
        if number in _LEGACY and kind == VARINT:
            legacy[number] = wire_format.signed(field.value)
        elif number == _SHAPE and kind == LEN:
            shape = _read_shape(buffer, field.begin, field.end)
        elif number in _VALUES and kind == LEN:
            values.setdefault(number, []).append(_packed(buffer, field, _VALUES[number]))
        elif number in _VALUES and kind == (I32 if _VALUES[number] == "<f4" else I64):
            run, at = wire_format.repeated_run(buffer, field, end, _VALUES[number])
            values.setdefault(number, []).append(run)
        elif number == _RAW_TYPE and kind == VARINT:
            raw_type = field.value
        elif number == _RAW_DATA and kind == LEN:
            raw = field.begin, field.end
        # Anything else is a fork's: PMLS-Caffe, for one, has numbers of its own on 7 and 8.
    arrays = {number: _joined(parts) for number, parts in values.items()}
    arrays = {number: array for number, array in arrays.items() if array.size}
    data = arrays.get(_DOUBLE_DATA, arrays.get(_DATA))
    if data is None and raw is not None:
        data = _raw(buffer, *raw, raw_type)
    if data is None:
        data = np.empty(0, "<f4")
    dims = _dims(legacy, shape, data.size, begin)
    diff = arrays.get(_DOUBLE_DIFF, arrays.get(_DIFF))
    return BlobArray(
        _reshaped(data, dims, begin),
        None if diff is None else _reshaped(diff, dims, begin),
        bool(legacy),
    )


def _packed(buffer: memoryview, field: wire_format.Field, dtype: str) -> Array:
    size = field.end - field.begin
    width = np.dtype(dtype).itemsize
    if size % width:
        raise WireError(field.begin, f"has {size:,} bytes of values, not a multiple of {width}")
    return np.frombuffer(buffer, dtype, size // width, field.begin)


def _raw(buffer: memoryview, begin: int, end: int, kind: int) -> Array:
    if kind not in _RAW_TYPES:
        raise WireError(begin, f"stores its values in an unknown raw type ({kind})")
    field = wire_format.Field(_RAW_DATA, LEN, 0, begin, end)
    return _packed(buffer, field, _RAW_TYPES[kind]).astype("<f4")


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _read_shape(buffer: memoryview, begin: int, end: int) -> list[int]:
    dims: list[int] = []
    for field in wire_format.fields(buffer, begin, end):
        if field.number == 1 and field.wire == LEN:
            dims += wire_format.packed_varints(buffer, field.begin, field.end)
        elif field.number == 1 and field.wire == VARINT:
            dims.append(wire_format.signed(field.value))
    return dims


def _dims(legacy: dict[int, int], shape: list[int] | None, size: int, at: int) -> list[int]:
    """Caffe's order: the four old dimensions if any is there, else ``shape``."""
    if legacy:
        dims = [legacy.get(number, 0) for number in _LEGACY]
    elif shape is not None:
        dims = shape
    else:
        dims = [] if size == 1 else [size]
    if len(dims) > MOST_AXES or any(d < 0 for d in dims):
        raise WireError(at, f"has an impossible shape: {len(dims)} axes, {dims[:4]} ...")
    return dims


def _reshaped(values: Array, dims: list[int], at: int) -> Array:
    count = 1
    for d in dims:
        count *= d
    if count != values.size:
        shape = " x ".join(map(str, dims)) or "a scalar"
        raise WireError(at, f"has {values.size:,} values for a shape of {shape} ({count:,} values)")
    try:
        return values.reshape(dims)
    except ValueError:  # no values, but axes whose product no array can have
        raise WireError(at, f"has an impossible shape: {len(dims)} axes, {dims[:4]} ...") from None


# -- writing ---------------------------------------------------------------------------------------


def blob_parts(data: Array, diff: Array | None = None) -> list[bytes | memoryview]:
    """The pieces of a BlobProto with new-style shape, to be written one after the other.

    float64 values go to the double fields.  As in Caffe fields come in the order of their numbers,
    and an array without axes has no shape.
    """
    numbers = (_DOUBLE_DATA, _DOUBLE_DIFF) if data.dtype == np.float64 else (_DATA, _DIFF)
    dims = b"".join(wire_format.varint(d) for d in data.shape)
    shape = wire_format.head(1, len(dims)) + dims
    shape = wire_format.head(_SHAPE, len(shape)) + shape if dims else b""
    pieces: list[bytes | memoryview] = []
    for number, values in zip(numbers, (data, diff), strict=True):
        if values is not None and values.size:
            # memoryview cannot cast arrays without axes or with an empty one
            flat = np.ascontiguousarray(values, _VALUES[number]).reshape(-1)
            pieces += [wire_format.head(number, flat.nbytes), memoryview(flat).cast("B")]
    return [*pieces, shape] if numbers[0] == _DATA else [shape, *pieces]


def size_of(parts: Iterable[bytes | memoryview]) -> int:
    return sum(len(part) for part in parts)
