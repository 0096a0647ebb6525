"""An ONNX file as a list of operators on values of known shapes.

Files come from strangers: whatever the library raises becomes an error that names the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import numpy_helper

from pycaffe_dist.aliases import Array, DType, Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.onnx.importing.constants import Computing
from pycaffe_dist.onnx.importing.inference import inferred
from pycaffe_dist.onnx.importing.tensors import Tensors

SHAPES = 1 << 12  # bytes of a constant that shapes may follow from
ROUNDS = 20  # in which shapes tell constants, and these shapes; one for each resizing in turn


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
        types: of the numbers of every value, where that is known.
        inputs, outputs: names.
    """

    path: str
    opset: int
    producer: str
    name: str
    operators: list[Operator]
    constants: dict[str, Array]
    shapes: dict[str, tuple[int, ...]]
    types: dict[str, DType]
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
        self.types: dict[str, DType] = {}

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
        self.constants = Tensors(self.path).initializers(self.graph)
        inputs = [value for value in self.graph.input if value.name not in self.constants]
        for value in inputs:
            self._fix_shape(value)
        self._lighten(inputs)
        operators = self._settle()
        domains = {opset.domain: opset.version for opset in self.model.opset_import}
        model = Model(
            self.path,
            domains.get("", domains.get("ai.onnx", 1)),
            self.model.producer_name,
            self.graph.name,
            operators,
            self.constants,
            self.shapes,
            self.types,
            [value.name for value in inputs],
            [value.name for value in self.graph.output],
        )
        read = [name for operator in operators for name in operator.inputs]
        for name in (*read, *model.outputs):
            model.consumers[name] = model.consumers.get(name, 0) + 1
        model.labels = next((p.value for p in self.model.metadata_props if p.key == "labels"), "")
        return model

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

    def _lighten(self, inputs: list[onnx.ValueInfoProto]) -> None:
        """What shapes are inferred from: of large constants their own shapes alone."""
        graph, kept = self.graph, list(inputs)
        small = [t for t in graph.initializer if self.constants[t.name].nbytes <= SHAPES]
        for tensor in graph.initializer:
            info = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            kept += [info] if self.constants[tensor.name].nbytes > SHAPES else []
        for tensor in small:  # whose values may be in another file
            tensor.CopyFrom(numpy_helper.from_array(self.constants[tensor.name], tensor.name))
        light = onnx.GraphProto(node=graph.node, name=graph.name, input=kept, initializer=small)
        light.output.extend(onnx.ValueInfoProto(name=value.name) for value in graph.output)
        self.model.graph.CopyFrom(light)
        self.model.ir_version = max(self.model.ir_version, 4)  # where initializers are no inputs

    def _settle(self) -> list[Operator]:
        """The operators that remain when those that need no input have been computed.

        Sizes that are computed from shapes give other shapes, from which more sizes follow.
        """
        given = sum(array.nbytes for array in self.constants.values())
        computing = Computing(self.path, list(self.model.opset_import), given)
        for _ in range(ROUNDS):
            self._infer()
            known = len(self.constants)
            kept = [node for node in self.graph.node if not self._is_computed(node, computing)]
            del self.graph.node[:]
            self.graph.node.extend(kept)
            made = {name for node in kept for name in node.output}
            if len(self.constants) == known or made <= self.shapes.keys():
                break
        return [self._operator(node, i) for i, node in enumerate(self.graph.node)]

    def _infer(self) -> None:
        graph = inferred(self.model)
        for value in (*graph.input, *graph.value_info, *graph.output):
            kind = value.type.tensor_type
            if kind.elem_type:
                self.types[value.name] = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            sizes = [d.dim_value for d in kind.shape.dim if d.HasField("dim_value")]
            if kind.HasField("shape") and len(sizes) == len(kind.shape.dim):
                self.shapes[value.name] = tuple(sizes)
        for name, array in self.constants.items():
            self.shapes[name], self.types[name] = array.shape, array.dtype

    # -- operators on constants --------------------------------------------------------------------

    def _is_computed(self, node: onnx.NodeProto, computing: Computing) -> bool:
        """Whether constants are all that a node makes."""
        if node.op_type == "Shape" and node.input[0] in self.shapes:
            self._known(node.output[0], np.array(self._part(node), np.int64))
            return True
        if any(name and name not in self.constants for name in node.input):
            return False
        found = computing.outputs(node, self.constants, self.shapes)
        for name, values in (found or {}).items():
            self._known(name, values)
        return found is not None

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

    def _known(self, name: str, values: Array) -> None:
        self.constants[name], self.shapes[name] = values, values.shape
        self.types[name] = values.dtype
        if values.nbytes <= SHAPES:
            self.graph.initializer.append(numpy_helper.from_array(values, name))
        else:
            kind = onnx.helper.np_dtype_to_tensor_dtype(values.dtype)
            self.graph.input.append(onnx.helper.make_tensor_value_info(name, kind, values.shape))


def _attributes(node: onnx.NodeProto) -> Facts:
    found = {}
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        found[attribute.name] = value.decode() if isinstance(value, bytes) else value
    return found
