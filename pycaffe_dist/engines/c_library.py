"""A shared library whose functions are called by ctypes, with their types written in letters."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

KINDS: dict[str, type] = {
    "p": ctypes.c_void_p,
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "l": ctypes.c_int64,
    "s": ctypes.c_size_t,
    "f": ctypes.c_float,
    "c": ctypes.c_char,
}


class CLibrary:
    """The functions of a library as attributes, without the prefix that all their names have.

    Args:
        path: of the library.
        prefix: of its names.
        signatures: by name, a letter of ``KINDS`` for each argument.
        results: what is returned, where that is not an int.

    Raises:
        OSError: it cannot be loaded.
        AttributeError: it lacks a function.
    """

    def __init__(
        self, path: str, prefix: str, signatures: Mapping[str, str], results: Mapping[str, type]
    ) -> None:
        self.path, self._prefix = path, prefix
        self._dll = ctypes.CDLL(path)
        for name, kinds in signatures.items():
            function = getattr(self._dll, prefix + name)
            function.argtypes = [KINDS[k] for k in kinds]
            function.restype = results.get(name, ctypes.c_int)
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def address(self, name: str) -> int:
        """Where a function lies."""
        found = ctypes.cast(getattr(self._dll, self._prefix + name), ctypes.c_void_p).value
        assert found
        return found
