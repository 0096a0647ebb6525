"""The file of a model: protobuf's wire format, with weights written straight from their memory.

A ModelProto in memory, its bytes and the weights would be three copies of a net; here the graph
without its weights is serialized, and each of these follows as one more `initializer` field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
import onnx
from onnx import helper

from pycaffe_dist.errors import NetError
from pycaffe_dist.onnx.export import Exported
from pycaffe_dist.onnx.graph import Array

GRAPH = 7  # field of a ModelProto
INITIALIZER = 5  # of a GraphProto
RAW_DATA = 9  # of a TensorProto
BYTES = 2  # the wire type of what has a length
MOST = (1 << 31) - 1  # bytes that protobuf reads in one message


def write_model(exported: Exported, file: IO[bytes]) -> int:
    """Write the file; its size in bytes."""
    size = sum(memoryview(part).nbytes for part in parts(exported))
    if size > MOST:
        raise NetError(f"the model has {size} bytes, an ONNX file may have {MOST}")
    for part in parts(exported):
        file.write(part)
    return size


def parts(exported: Exported) -> Iterator[bytes | memoryview]:
    """The bytes of the file, in turn."""
    head = onnx.ModelProto()
    head.CopyFrom(exported.model)
    graph = exported.model.graph.SerializeToString()
    head.ClearField("graph")
    weights = [(_head(name, a), _bytes(a)) for name, a in exported.constants.items()]
    tensors = [(_field(INITIALIZER, len(h) + len(b)) + h, b) for h, b in weights]
    yield head.SerializeToString()
    yield _field(GRAPH, len(graph) + sum(len(h) + len(b) for h, b in tensors)) + graph
    for tensor_head, values in tensors:
        yield tensor_head
        yield values


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
