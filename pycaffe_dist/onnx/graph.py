"""An ONNX graph under construction: values, operators and constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, DTypeLike
from onnx import helper

from pycaffe_dist.aliases import Array

AXES_ARE_INPUTS = {"ReduceSum": 13, "ReduceMean": 18, "ReduceMax": 18, "ReduceMin": 18}
AXES_ARE_INPUTS |= {"ReduceProd": 18, "ReduceL1": 18, "ReduceL2": 18, "ReduceSumSquare": 18}
SMALL = 64  # values up to which equal constants are shared


class Value(str):
    """The name of a value in the graph, with the shape it has where that is known."""

    shape: tuple[int, ...]

    def __new__(cls, name: str, shape: Iterable[int] = ()) -> Value:
        value = super().__new__(cls, name)
        value.shape = tuple(int(size) for size in shape)
        return value


class Graph:
    """Operators in the order in which they run.

    Attributes:
        opset: the version of ONNX's operators that the graph is for.
        nodes: the operators so far.
        constants: arrays by the name of their value.
        scope: the layer that is being written; operators and values are named after it.
        out: the shapes of that layer's tops.
        resizable: whether images may have other sizes than those of the net.
    """

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.scope = ""
        self.out: list[tuple[int, ...]] = []
        self.resizable = False
        self._names: set[str] = set()
        self._shared: dict[tuple[object, ...], str] = {}

    # -- names -------------------------------------------------------------------------------

    def reserve(self, name: str) -> None:
        """Keep a name for a value that has it from outside."""
        self._names.add(name)

    def unique(self, name: str) -> str:
        found, i = name, 1
        while found in self._names:
            i += 1
            found = f"{name}_{i}"
        self._names.add(found)
        return found

    # -- operators ---------------------------------------------------------------------------

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output; its name.  An empty input is one left out."""
        return self.several(kind, *inputs, count=1, **attributes)[0]

    def several(self, kind: str, *inputs: str, count: int, **attributes: Any) -> list[str]:
        """Add an operator with ``count`` outputs."""
        name = self.unique(f"{self.scope}/{kind}" if self.scope else kind)
        outputs = [name] if count == 1 else [self.unique(f"{name}:{i}") for i in range(count)]
        node = helper.make_node(kind, [str(i) for i in inputs], outputs, name=name, **attributes)
        self.nodes.append(node)
        return outputs

    def constant(self, values: ArrayLike, dtype: DTypeLike = np.float32, name: str = "") -> str:
        """A constant; small ones of equal values are one, and so are large ones in one memory."""
        array = np.ascontiguousarray(values, dtype).reshape(np.shape(values))
        # Layers that share a blob share its memory.
        what = array.tobytes() if array.size <= SMALL else array.__array_interface__["data"]
        key = (array.shape, array.dtype.str, what)
        if key not in self._shared:
            self._shared[key] = self.unique(name or f"{self.scope}/constant")
            self.constants[self._shared[key]] = array
        return self._shared[key]

    def ints(self, *values: int) -> str:
        """A constant list of int64."""
        return self.constant(list(values), np.int64)

    def ints_scalar(self, value: int) -> str:
        return self.constant(value, np.int64)

    # -- operators whose form depends on the opset, or that need constants -----------------------

    def reduce(self, kind: str, x: str, axes: Sequence[int], keep: bool = True) -> str:
        if self.opset >= AXES_ARE_INPUTS[kind]:
            return self.op(kind, x, self.ints(*axes), keepdims=int(keep))
        return self.op(kind, x, axes=list(axes), keepdims=int(keep))

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """In ``shape`` 0 keeps the size at its place, and one −1 is what remains."""
        return self.op("Reshape", x, self.ints(*shape))

    def reshape_to(self, x: Value, shape: Sequence[int]) -> str:
        """To a shape of the same count; where it has the batch of x in front, any batch will do."""
        same = bool(shape and x.shape) and shape[0] == x.shape[0]
        return self.reshape(x, [0, *shape[1:]] if same else shape)

    def slice(self, x: str, axis: int, begin: int, end: int, step: int = 1) -> str:
        bounds = [self.ints(n) for n in (begin, end, axis, step)]
        return self.op("Slice", x, *bounds)

    def split(self, x: str, sizes: Sequence[int], axis: int) -> list[str]:
        if len(sizes) == 1:
            return [x]
        return self.several("Split", x, self.ints(*sizes), count=len(sizes), axis=axis)

    def pad(self, x: str, begin: Sequence[int], end: Sequence[int], value: float = 0.0) -> str:
        """Along all axes."""
        return self.op("Pad", x, self.ints(*begin, *end), self.constant(value), mode="constant")

    def scaled(self, x: str, factor: ArrayLike) -> str:
        """x·factor, or x itself where that changes nothing."""
        return x if np.all(np.asarray(factor) == 1) else self.op("Mul", x, self.constant(factor))

    def shifted(self, x: str, by: ArrayLike) -> str:
        return x if np.all(np.asarray(by) == 0) else self.op("Add", x, self.constant(by))

    def clip(self, x: str, low: float | None = None, high: float | None = None) -> str:
        bounds = ["" if b is None else self.constant(np.float32(b)) for b in (low, high)]
        return self.op("Clip", x, *(bounds if high is not None else bounds[:1]))

    def cast(self, x: str, dtype: int) -> str:
        return self.op("Cast", x, to=dtype)

    def to_int(self, x: str) -> str:
        return self.cast(x, onnx.TensorProto.INT64)

    def to_float(self, x: str) -> str:
        return self.cast(x, onnx.TensorProto.FLOAT)

    def rename(self, old: str, new: str) -> None:
        """Give a value that an operator makes another name."""
        self.rename_all({old: new})

    def rename_all(self, new: Mapping[str, str]) -> None:
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name in new:
                        names[i] = new[name]

    def makes(self, value: str) -> bool:
        """Whether an operator makes this value."""
        return any(value in node.output for node in self.nodes)
