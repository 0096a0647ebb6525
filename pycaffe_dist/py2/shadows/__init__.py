"""Modules as Python 2 knew them: what is not here is the real module's.

A file for each module whose functions mean something else today.  Only translated modules import
them; the real modules, and with them all installed packages, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from pycaffe_dist.py2.strings import as_bytes, byte_strs


def over(real: ModuleType, names: dict[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a shadow with the global ``names`` over a real module."""

    def get(name: str) -> Any:
        if name == "__all__":  # for `from module import *`
            public = getattr(real, "__all__", None) or [n for n in dir(real) if n[0] != "_"]
            return sorted({*public, *(n for n in names if n[0] != "_" and n in names["OURS"])})
        return getattr(real, name)

    return get


def taking_bytes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of bytes that takes text too, and whose bytes are text."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return byte_strs(function(*map(as_bytes, args), **kwargs))

    return call
