"""Who writes which layer: functions registered by layer class."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from pycaffe_dist.layer import Layer

# From a module, a layer and the names of its bottoms to the expressions of its tops.
Form = Callable[[Any, Any, list[str]], "str | list[str]"]
FORMS: dict[type[Layer], Form] = {}
F = TypeVar("F", bound=Form)


def writes(*classes: type[Layer]) -> Callable[[F], F]:
    """Make a function the form of these classes, and of their subclasses without their own."""

    def add(function: F) -> F:
        for cls in classes:
            FORMS[cls] = function
        return function

    return add


def form(layer: Layer) -> Form | None:
    """That of the layer's class or of the nearest base that has one."""
    _load()
    return next((FORMS[cls] for cls in type(layer).__mro__ if cls in FORMS), None)


@cache
def _load() -> None:
    package = importlib.import_module("pycaffe_dist.pytorch.layers")
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
