"""Who writes which layer: functions registered by layer class."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.parameter import Parameter
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.graph import Graph, Value

# From a layer and the values of its bottoms to those of its tops: one, or a list.
Exporter = Callable[[Graph, Any, Sequence[Value]], "str | list[str]"]
EXPORTERS: dict[type[Layer], Exporter] = {}


F = TypeVar("F", bound=Exporter)


def exports(*classes: type[Layer]) -> Callable[[F], F]:
    """Make a function the exporter of these classes, and of their subclasses without their own."""

    def add(function: F) -> F:
        for cls in classes:
            EXPORTERS[cls] = function
        return function

    return add


def exporter(layer: Layer) -> Exporter | None:
    """That of the layer's class or of the nearest base that has one."""
    _load()
    return next((EXPORTERS[cls] for cls in type(layer).__mro__ if cls in EXPORTERS), None)


def brings_data(net: Net, i: int) -> bool:
    """Whether what a layer gives comes from outside, so that in ONNX it is an input."""
    layer = net.layers[i]
    return not net.bottom_ids[i] and not isinstance(layer, Parameter) and exporter(layer) is None


@cache
def _load() -> None:
    package = importlib.import_module("pycaffe_dist.onnx.layers")
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
