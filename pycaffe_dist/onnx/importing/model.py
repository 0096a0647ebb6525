"""An ONNX file as a list of operators on values of known shapes.

Files come from strangers: no data outside of the file's own folder is read, nothing is larger than
the file says it may be, and whatever the library raises becomes an error that names the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import open_regular, read_bytes

MOST_VALUES = 1 << 24  # of a constant that is computed here: weights are not
FOLDED_BYTES = 1 << 26  # of what constants are computed from


@dataclass
class Operator:
    """A node: ``a`` are its attributes, with names for inputs and outputs."""

    kind: str
    name: str
    inputs: list[str]
    outputs: list[str]
    a: Facts


@dataclass
class Model:
    """What is to become a net.

    Attributes:
        operators: in their order, without those that are computed beforehand.
        constants: weights, and what was computed from constants.
        shapes: of every value whose sizes are known.
        inputs, outputs: names.
    """

    path: str
    opset: int
    producer: str
    name: str
    operators: list[Operator]
    constants: dict[str, Array]
    shapes: dict[str, tuple[int, ...]]
    inputs: list[str]
    outputs: list[str]
    labels: str = ""
    consumers: dict[str, int] = field(default_factory=dict)


def read_model(path: str, sizes: Mapping[str, tuple[int, ...]], batch: int = 1) -> Model:
    """Read and simplify a file; ``sizes`` are the shapes of inputs that the file leaves open."""
    raw = read_bytes(path)
    try:
        model = onnx.ModelProto.FromString(raw)
    except Exception as e:
        raise FileError(f"{path}: is not an ONNX file: {e}") from e
    try:
        return _Reader(path, model, sizes, batch).read()
    except FileError:
        raise
    except Exception as e:  # the library's own checks raise a dozen kinds
        words = str(e).strip().splitlines() or [type(e).__name__]
        raise FileError(f"{path}: cannot be read as an ONNX model: {words[0]}") from e


class _Reader:
    def __init__(
        self, path: str, model: onnx.ModelProto, sizes: Mapping[str, tuple[int, ...]], batch: int
    ) -> None:
        self.path, self.model, self.sizes, self.batch = path, model, sizes, batch
        self.graph = model.graph
        self.constants: dict[str, Array] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}

    def _refuse_bytes(self) -> None:
        """Protobuf gives a string that is no UTF-8 as bytes, which no message of ours takes."""
        names = [self.graph.name, self.model.producer_name]
        names += [value.name for value in (*self.graph.input, *self.graph.output)]
        for node in self.graph.node:
            names += [node.name, *node.input, *node.output]
        if wrong := [name for name in names if isinstance(name, bytes)]:
            raise FileError(f"{self.path}: is damaged: the name {wrong[0]!r} is no UTF-8")

    def read(self) -> Model:
        if not self.graph.node:
            raise FileError(f"{self.path}: has no operators; is it an ONNX model?")
        self._refuse_bytes()
        self._read_constants()
        inputs = [value for value in self.graph.input if value.name not in self.constants]
        for value in inputs:
            self._fix_shape(value)
        self._infer()
        operators = self._fold()
        domains = {opset.domain: opset.version for opset in self.model.opset_import}
        model = Model(
            self.path,
            domains.get("", domains.get("ai.onnx", 1)),
            self.model.producer_name,
            self.graph.name,
            operators,
            self.constants,
            self.shapes,
            [value.name for value in inputs],
            [value.name for value in self.graph.output],
        )
        for operator in operators:
            for name in operator.inputs:
                model.consumers[name] = model.consumers.get(name, 0) + 1
        for name in model.outputs:
            model.consumers[name] = model.consumers.get(name, 0) + 1
        model.labels = next((p.value for p in self.model.metadata_props if p.key == "labels"), "")
        return model

    # -- constants -------------------------------------------------------------------------------

    def _read_constants(self) -> None:
        for tensor in self.graph.initializer:
            self.constants[tensor.name] = self._array(tensor)
        if self.graph.sparse_initializer:
            raise FileError(f"{self.path}: sparse weights are not supported")

    def _array(self, tensor: onnx.TensorProto) -> Array:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            return self._external(tensor)
        count = int(np.prod([int(d) for d in tensor.dims], dtype=np.int64))
        given = len(tensor.raw_data) or sum(
            len(getattr(tensor, part))
            for part in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")
        )
        if count < 0 or (count and not given and tensor.data_type != onnx.TensorProto.STRING):
            raise FileError(f'{self.path}: the weights "{tensor.name}" have no values')
        if count > 8 * max(given, 1):
            raise FileError(f'{self.path}: the weights "{tensor.name}" are not as long as they say')
        return np.asarray(numpy_helper.to_array(tensor))

    def _external(self, tensor: onnx.TensorProto) -> Array:
        """Weights in a file of their own, which must be beside the model."""
        about = {entry.key: entry.value for entry in tensor.external_data}
        place = Path(about.get("location", ""))
        if place.is_absolute() or ".." in place.parts or not place.parts:
            raise FileError(
                f'{self.path}: the weights "{tensor.name}" are in {str(place)!r}; only files below '
                "the model's own folder are read"
            )
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        shape = tuple(int(d) for d in tensor.dims)
        wanted = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        folder = Path(self.path).resolve().parent
        file = folder / place
        if not file.resolve().is_relative_to(folder):
            raise FileError(f"{file}: leads out of the model's folder, and is not read")
        with open_regular(file, "rb") as stream:
            stream.seek(int(about.get("offset", 0)))
            raw = stream.read(wanted)
        if len(raw) < wanted:
            raise FileError(f'{file}: ends within the weights "{tensor.name}"')
        return np.frombuffer(raw, dtype).reshape(shape)

    # -- shapes ----------------------------------------------------------------------------------

    def _fix_shape(self, value: onnx.ValueInfoProto) -> None:
        """Sizes that the file leaves open are those given, or else the batch."""
        kind = value.type.tensor_type
        given = self.sizes.get(value.name)
        if given is not None:
            del kind.shape.dim[:]
            for size in given:
                kind.shape.dim.add(dim_value=size)
            return
        if not kind.HasField("shape"):
            raise FileError(
                f'{self.path}: the input "{value.name}" has no shape: give --shape {value.name}=...'
            )
        for axis, dim in enumerate(kind.shape.dim):
            if dim.dim_value > 0:
                continue
            if axis:
                raise FileError(
                    f'{self.path}: axis {axis} of the input "{value.name}" may have any size: '
                    f"give its shape, such as --shape {value.name}={self._example(kind)}"
                )
            dim.Clear()
            dim.dim_value = self.batch

    def _example(self, kind: onnx.TypeProto.Tensor) -> str:
        return ",".join(
            str(dim.dim_value or (self.batch if not i else 224))
            for i, dim in enumerate(kind.shape.dim)
        )

    def _infer(self) -> None:
        for value in (*self.graph.value_info, *self.graph.output):
            value.type.tensor_type.ClearField("shape")  # may be for other sizes
        del self.graph.value_info[:]
        inferred = shape_inference.infer_shapes(self.model, data_prop=True).graph
        for value in (*inferred.input, *inferred.value_info, *inferred.output):
            dims = value.type.tensor_type.shape.dim
            if value.type.tensor_type.HasField("shape") and all(
                d.HasField("dim_value") for d in dims
            ):
                self.shapes[value.name] = tuple(d.dim_value for d in dims)
        self.shapes |= {name: array.shape for name, array in self.constants.items()}

    # -- operators on constants --------------------------------------------------------------------

    def _fold(self) -> list[Operator]:
        """The operators that remain when those that need no input have been computed."""
        operators = []
        for i, node in enumerate(self.graph.node):
            if node.op_type == "Shape" and node.input[0] in self.shapes:
                self._known(node.output[0], np.array(self._part(node), np.int64))
            elif all(name in self.constants or not name for name in node.input):
                self._compute(node)
            else:
                operators.append(self._operator(node, i))
        return operators

    def _part(self, node: onnx.NodeProto) -> tuple[int, ...]:
        a = _attributes(node)
        shape = self.shapes[node.input[0]]
        return shape[a.get("start", 0) : a.get("end", len(shape))]

    def _operator(self, node: onnx.NodeProto, i: int) -> Operator:
        if node.domain not in ("", "ai.onnx"):
            raise FileError(
                f"{self.path}: the operator {node.op_type} of {node.domain} is not ONNX's own"
            )
        name = node.name or f"{node.op_type}_{i}"
        return Operator(node.op_type, name, list(node.input), list(node.output), _attributes(node))

    def _compute(self, node: onnx.NodeProto) -> None:
        if node.op_type == "Identity":
            self._known(node.output[0], self.constants[node.input[0]])
            return
        used = sum(self.constants[name].nbytes for name in node.input if name)
        wanted = self.shapes.get(node.output[0])
        if used > FOLDED_BYTES or (wanted and np.prod(wanted, dtype=np.float64) > MOST_VALUES):
            raise FileError(f'{self.path}: "{node.output[0]}" is computed from too many constants')
        if node.op_type in ("ConstantOfShape", "Expand", "Tile", "Range") and wanted is None:
            raise FileError(f'{self.path}: the size of "{node.output[0]}" is not known')
        graph = onnx.helper.make_graph(
            [node],
            "constant",
            [],
            [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name],
            [numpy_helper.from_array(self.constants[n], n) for n in dict.fromkeys(node.input) if n],
        )
        model = onnx.helper.make_model(graph, opset_imports=self.model.opset_import)
        made = ReferenceEvaluator(model).run(None, {})
        for name, values in zip((n for n in node.output if n), made, strict=True):
            self._known(name, np.asarray(values))

    def _known(self, name: str, values: Array) -> None:
        self.constants[name], self.shapes[name] = values, values.shape


def _attributes(node: onnx.NodeProto) -> Facts:
    found = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        found[attribute.name] = value.decode() if isinstance(value, bytes) else value
    return found
