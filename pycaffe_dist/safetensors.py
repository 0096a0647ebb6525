"""The safetensors format: named arrays behind a header of JSON, nothing that runs.

A file is the length of the header in 8 bytes (little-endian), the header, and the values.  The
header has, by name, ``dtype``, ``shape`` and ``data_offsets`` (begin and end behind the header).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, read_bytes, reading

Path_ = str | os.PathLike[str]
METADATA = "__metadata__"
MOST_HEADER = 100 << 20  # bytes, as in the format's own reader
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}
NAMES = {np.dtype(code): name for name, code in TYPES.items()}


def write_safetensors(
    path: Path_, arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> None:
    """Write arrays, whole or not at all; values go from their memory to the file."""
    header: Facts = {METADATA: dict(metadata)} if metadata else {}
    at = 0
    for name, array in arrays.items():
        kind = NAMES.get(array.dtype.newbyteorder("<"))
        if kind is None or name == METADATA:
            raise FileError(f"{path}: {name!r} of the type {array.dtype} cannot be written there")
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # values begin at a multiple of 8 bytes
    with atomic_write(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            file.write(memoryview(little.reshape(-1).view(np.uint8)))


def read_safetensors(path: Path_) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays, views of the file's bytes, and the metadata.

    Raises:
        FileError: it cannot be read, is damaged, or is something else.
    """
    raw = read_bytes(path)
    with reading(path, "cannot be read as safetensors"):
        if len(raw) < 8:
            raise ValueError("it is shorter than the length of a header")
        size = int.from_bytes(raw[:8], "little")
        if size > min(MOST_HEADER, len(raw) - 8):
            raise ValueError(f"its header claims {size:,} bytes, the file has {len(raw):,}")
        header = _json(raw[8 : 8 + size])
        metadata = header.pop(METADATA, {})
        if not isinstance(metadata, dict):
            raise ValueError("its metadata is no table")
        values = memoryview(raw)[8 + size :]
        arrays = {name: _array(name, about, values) for name, about in header.items()}
    return arrays, {str(k): str(v) for k, v in metadata.items()}


def _json(text: bytes) -> Facts:
    try:
        header = json.loads(text)
    except RecursionError as e:
        raise ValueError("its header is nested too deeply") from e
    if not isinstance(header, dict):
        raise ValueError("its header is no table")
    return header


def _array(name: str, about: Facts, values: memoryview) -> Array:
    try:
        kind, shape, (begin, end) = about["dtype"], about["shape"], about["data_offsets"]
    except (TypeError, KeyError, ValueError) as e:
        raise ValueError(f"{name!r} lacks its type, shape or place") from e
    numbers = [*shape, begin, end] if isinstance(shape, list) else [None]
    if any(type(n) is not int or n < 0 for n in numbers):
        raise ValueError(f"{name!r} has an impossible shape or place")
    if kind == "BF16":  # the upper half of a float32
        halves = np.frombuffer(_part(name, values, begin, end, shape, 2), "<u2")
        return (halves.astype("<u4") << 16).view("<f4").reshape(shape)
    if kind not in TYPES:
        raise ValueError(f"{name!r} has values of the unknown type {kind!r}")
    dtype = np.dtype(TYPES[kind])
    part = _part(name, values, begin, end, shape, dtype.itemsize)
    return np.frombuffer(part, dtype).reshape(shape)


def _part(
    name: str, values: memoryview, begin: int, end: int, shape: list[int], item: int
) -> memoryview:
    if end > len(values) or end - begin != math.prod(shape) * item:
        raise ValueError(
            f"{name!r} of the shape {shape} has bytes {begin:,} to {end:,} of {len(values):,}"
        )
    return values[begin:end]
