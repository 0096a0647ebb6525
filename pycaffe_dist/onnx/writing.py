"""The file of a model: protobuf's wire format, with weights written straight from their memory.

A ModelProto in memory, its bytes and the weights would be three copies of a net; here the graph
without its weights is serialized, and each of these follows as one more `initializer` field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

import numpy as np
import onnx
from onnx import helper

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.onnx.export import Exported

GRAPH = 7  # field of a ModelProto
INITIALIZER = 5  # of a GraphProto
RAW_DATA = 9  # of a TensorProto
BYTES = 2  # the wire type of what has a length
MOST = (1 << 31) - 1  # bytes that protobuf reads in one message
INLINE = 1024  # bytes of a constant that a model has in itself: shapes and such


@dataclass(frozen=True)
class Written:
    """A file: its size in bytes, and where in it the values of each constant begin."""

    size: int
    places: dict[str, int]


def write_model(exported: Exported, file: IO[bytes]) -> Written:
    """Write the file."""
    places: dict[str, int] = {}
    size = 0
    for name, part in parts(exported):
        if name:
            places[name] = size
        size += memoryview(part).nbytes
    if size > MOST:
        raise NetError(f"the model has {size} bytes, an ONNX file may have {MOST}")
    for _, part in parts(exported):
        file.write(part)
    return Written(size, places)


def as_bytes(exported: Exported) -> bytes:
    """The file in memory, for small ones."""
    return b"".join(bytes(part) for _, part in parts(exported))


def parts(exported: Exported) -> Iterator[tuple[str, bytes | memoryview]]:
    """The bytes of the file, in turn, those of values with the name of their constant."""
    head = onnx.ModelProto()
    head.CopyFrom(exported.model)
    graph = exported.model.graph.SerializeToString()
    head.ClearField("graph")
    weights = [(name, _head(name, a), _bytes(a)) for name, a in exported.constants.items()]
    tensors = [(n, _field(INITIALIZER, len(h) + len(b)) + h, b) for n, h, b in weights]
    yield "", head.SerializeToString()
    yield "", _field(GRAPH, len(graph) + sum(len(h) + len(b) for _, h, b in tensors)) + graph
    for name, tensor_head, values in tensors:
        yield "", tensor_head
        yield name, values


def pointing(exported: Exported, file: str, places: Mapping[str, int]) -> bytes:
    """The model without the values of its larger constants, which stand in a file beside it."""
    model = onnx.ModelProto()
    model.CopyFrom(exported.model)
    for name, array in exported.constants.items():
        tensor = model.graph.initializer.add(dims=array.shape, name=name)
        tensor.data_type = helper.np_dtype_to_tensor_dtype(array.dtype)
        if array.nbytes < INLINE:
            tensor.raw_data = bytes(_bytes(array))
            continue
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", file), ("offset", places[name]), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
    model_bytes: bytes = model.SerializeToString()
    return model_bytes


def _head(name: str, array: Array) -> bytes:
    """A TensorProto up to the bytes of its values."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = onnx.TensorProto(dims=array.shape, data_type=kind, name=name)
    head: bytes = tensor.SerializeToString()
    return head + _field(RAW_DATA, array.nbytes)


def _bytes(array: Array) -> memoryview:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return memoryview(little.reshape(-1).view(np.uint8))


def _field(number: int, length: int) -> bytes:
    """The tag and the length of a field."""
    return _varint(number << 3 | BYTES) + _varint(length)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
