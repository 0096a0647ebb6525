"""Modules as Python 2 knew them: what is not here is the real module's.

A file for each module whose functions mean something else today.  Only translated modules import
them; the real modules, and with them all installed packages, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from pycaffe_dist.py2.strings import as_bytes, byte_strs
from pycaffe_dist.py2.values import Names, Value


def over(real: ModuleType, names: Names) -> Callable[[str], Value]:
    """The ``__getattr__`` of a shadow with the global ``names`` over a real module."""

    def get(name: str) -> Value:
        if name == "__all__":  # for `from module import *`
            public = getattr(real, "__all__", None) or [n for n in dir(real) if n[0] != "_"]
            return sorted({*public, *(n for n in names if n[0] != "_" and n in names["OURS"])})
        return getattr(real, name)

    return get


def taking_bytes(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of bytes that takes text too, and whose bytes are text."""

    def call(*args: Value, **kwargs: Value) -> Value:
        return byte_strs(function(*map(as_bytes, args), **kwargs))

    return call
