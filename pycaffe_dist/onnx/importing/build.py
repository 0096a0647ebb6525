"""A net of what a model's operators say, with the values of its parameters."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.onnx.importing.joining import join
from pycaffe_dist.onnx.importing.model import Model, Operator
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter

# From an operator to layers, which the builder is told.
Importer = Callable[["Builder", Operator], None]
IMPORTERS: dict[str, Importer] = {}
INPUT = "Input"


def imports(*kinds: str) -> Callable[[Importer], Importer]:
    """Make a function the importer of these operators."""

    def add(function: Importer) -> Importer:
        for kind in kinds:
            IMPORTERS[kind] = function
        return function

    return add


class Builder:
    """A net under construction.

    Attributes:
        net: the layers so far.
        weights: the parameters of each layer by its name.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.net = NetParameter(name=model.name or "net")
        self.weights: dict[str, list[Array]] = {}
        self._same: dict[str, str] = {}  # values that are others under a new name
        self._names: set[str] = set()
        self._parameters: set[str] = set()  # constants that have a blob

    def build(self) -> NetParameter:
        for name in self.model.inputs:
            layer = self.layer(INPUT, name, [], [name])
            layer.input_param.shape.add(dim=self.model.shapes[name])
        for operator in self.model.operators:
            self._add(operator)
        for name in self.model.outputs:
            self._check_output(name)
        join(self.net, self.weights, [*self.model.inputs, *self.model.outputs])
        return self.net

    def _add(self, operator: Operator) -> None:
        write = importers().get(operator.kind)
        if write is None:
            raise self.error(operator, "has no form in Caffe")
        try:
            write(self, operator)
        except (ArithmeticError, LookupError, TypeError, ValueError) as e:
            raise self.error(operator, f"is not as it should be: {type(e).__name__}: {e}") from e

    def _check_output(self, name: str) -> None:
        """An output that is an input, a constant or another's value has no blob of its name."""
        source = self._blob(name)
        if source != name:
            self.layer("Split", name, [source], [name])

    # -- what importers call ---------------------------------------------------------------------

    def error(self, operator: Operator, words: str) -> NetError:
        shapes = ", ".join(
            f"{n} {self.model.shapes.get(n, '(shape not known)')}" for n in operator.inputs if n
        )
        return NetError(
            f'{self.model.path}: the operator "{operator.name}" ({operator.kind}) {words}; '
            f"its inputs: {shapes}"
        )

    def refuse(self, operator: Operator, condition: bool, words: str) -> None:
        if condition:
            raise self.error(operator, words)

    def layer(
        self,
        kind: str,
        name: str,
        bottoms: Sequence[str],
        tops: Sequence[str],
        weights: Sequence[Array] = (),
    ) -> LayerParameter:
        """Add a layer; its message, to be filled."""
        unique, i = name, 1
        while unique in self._names:
            i += 1
            unique = f"{name}_{i}"
        self._names.add(unique)
        sources = [self._blob(bottom) for bottom in bottoms]
        layer = self.net.layer.add(name=unique, type=kind, bottom=sources, top=tops)
        if weights:
            self.weights[unique] = [np.ascontiguousarray(w, np.float32) for w in weights]
        return layer

    def _blob(self, name: str) -> str:
        """The blob of a value; of a constant it is that of a Parameter layer."""
        source = self.source(name)
        values = self.model.constants.get(source)
        if values is not None and source not in self._parameters:
            if values.dtype.kind not in "fiub":
                words = f"is a constant of the type {values.dtype}, which no blob can have"
                raise NetError(f'{self.model.path}: "{source}" {words}')
            self._parameters.add(source)
            layer = self.layer("Parameter", source, [], [source], [values])
            layer.parameter_param.shape.dim[:] = values.shape
        return source

    def simple(self, kind: str, op: Operator) -> LayerParameter:
        """A layer for an operator with one bottom and one top."""
        return self.layer(kind, self.named(op), [op.inputs[0]], [op.outputs[0]])

    def named(self, op: Operator) -> str:
        """A layer's name; of files that we wrote, without the operator behind it."""
        ending = f"/{op.kind}"
        ours = self.model.producer == "pycaffe_dist" and op.name.endswith(ending)
        return op.name[: -len(ending)] if ours else op.name

    def alias(self, name: str, source: str) -> None:
        """``name`` is the value ``source``."""
        self._same[name] = self.source(source)

    def source(self, name: str) -> str:
        return self._same.get(name, name)

    def constant(self, op: Operator, i: int) -> Array | None:
        """Input ``i`` if it is there and known, else None."""
        if i >= len(op.inputs) or not op.inputs[i]:
            return None
        return self.model.constants.get(self.source(op.inputs[i]))

    def needed(self, op: Operator, i: int) -> Array:
        """Input ``i``, which must be a constant."""
        values = self.constant(op, i)
        if values is None:
            raise self.error(op, f"needs its input {i} to be a constant")
        return values

    def shape(self, op: Operator, name: str) -> tuple[int, ...]:
        found = self.model.shapes.get(self.source(name), self.model.shapes.get(name))
        if found is None:
            raise self.error(op, f'cannot be read: the shape of "{name}" is not known')
        return found

    def between(self, op: Operator, what: str, shape: Sequence[int]) -> str:
        """A name for a value between two layers of one operator."""
        name = f"{op.outputs[0]}/{what}"
        self.model.shapes[name] = tuple(shape)
        self.model.consumers[name] = 1
        return name


@cache
def importers() -> dict[str, Importer]:
    package = importlib.import_module("pycaffe_dist.onnx.importing.operators")
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
    return IMPORTERS


def ints(values: ArrayLike) -> list[int]:
    found = np.asarray(values).reshape(-1)
    if found.dtype.kind == "c":
        raise ValueError(f"whole numbers are needed, found values of the type {found.dtype}")
    return [int(value) for value in found]
