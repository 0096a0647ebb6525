"""The weights of an ONNX file: within it, or in files of its own folder.

Files come from strangers: nothing outside of the model's folder is read, and nothing becomes larger
than the files are.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import open_regular

GIVEN = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


class Tensors:
    """Reads the tensors of one model.

    Args:
        path: of the model, for messages and for the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._sizes: dict[Path, int] = {}  # of other files that were read
        self._read = 0  # bytes out of these

    def initializers(self, graph: onnx.GraphProto) -> dict[str, Array]:
        if graph.sparse_initializer:
            raise FileError(f"{self.path}: sparse weights are not supported")
        self._refuse_hidden(graph)
        return {tensor.name: self.array(tensor) for tensor in graph.initializer}

    def _refuse_hidden(self, graph: onnx.GraphProto) -> None:
        """The libraries would look for them wherever the process runs."""
        for node in graph.node:
            if any(_is_external(tensor) for tensor in _tensors_of(node)):
                raise FileError(
                    f'{self.path}: the operator "{node.name or node.op_type}" ({node.op_type}) has '
                    "values in another file; only initializers may have them there"
                )

    def array(self, tensor: onnx.TensorProto) -> Array:
        """Its values.

        Raises:
            FileError: they are not there, or elsewhere than they may be.
        """
        shape = tuple(int(d) for d in tensor.dims)
        if any(d < 0 for d in shape):
            raise FileError(f'{self.path}: the weights "{tensor.name}" have the shape {shape}')
        if _is_external(tensor):
            return self._external(tensor, shape)
        count = prod(shape)
        given = len(tensor.raw_data) or sum(len(getattr(tensor, part)) for part in GIVEN)
        if count and not given and tensor.data_type != onnx.TensorProto.STRING:
            raise FileError(f'{self.path}: the weights "{tensor.name}" have no values')
        if count > 8 * max(given, 1):
            raise FileError(f'{self.path}: the weights "{tensor.name}" are not as long as they say')
        return np.asarray(numpy_helper.to_array(tensor))

    def _external(self, tensor: onnx.TensorProto, shape: tuple[int, ...]) -> Array:
        """Weights in a file of their own, which must be beside the model."""
        about = {entry.key: entry.value for entry in tensor.external_data}
        place = Path(about.get("location", ""))
        if place.is_absolute() or ".." in place.parts or not place.parts:
            raise FileError(
                f'{self.path}: the weights "{tensor.name}" are in {str(place)!r}; only files below '
                "the model's own folder are read"
            )
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        wanted = prod(shape) * dtype.itemsize
        folder = Path(self.path).resolve().parent
        file = folder / place
        if not file.resolve().is_relative_to(folder):
            raise FileError(f"{file}: leads out of the model's folder, and is not read")
        with open_regular(file, "rb") as stream:
            self._sizes[file] = stream.seek(0, 2)
            if wanted > self._sizes[file]:
                raise FileError(f'{file}: ends within the weights "{tensor.name}"')
            self._read += wanted
            if self._read > 2 * sum(self._sizes.values()):
                raise FileError(f"{self.path}: many weights are in one place of {file}")
            stream.seek(int(about.get("offset", 0)))
            raw = stream.read(wanted)
        if len(raw) < wanted:
            raise FileError(f'{file}: ends within the weights "{tensor.name}"')
        return np.frombuffer(raw, dtype).reshape(shape)


def _is_external(tensor: onnx.TensorProto) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def _tensors_of(node: onnx.NodeProto) -> Iterator[onnx.TensorProto]:
    """Those of its attributes and of the graphs in these."""
    for attribute in node.attribute:
        sparse = [attribute.sparse_tensor, *attribute.sparse_tensors]
        yield from (attribute.t, *attribute.tensors)
        yield from (part for s in sparse for part in (s.values, s.indices))
        for graph in (attribute.g, *attribute.graphs):
            yield from graph.initializer
            for inner in graph.node:
                yield from _tensors_of(inner)
