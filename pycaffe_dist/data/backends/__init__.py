"""Kinds of databases, a module each that holds one ``BACKEND``: adding a kind is adding a file.

The module has the name that ``-backend`` takes; the enum DataParameter.DB has it in capitals.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from pycaffe_dist.data.source import Source
from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import DataParameter

Put = Callable[[bytes, bytes], None]


class Makes(Protocol):
    """A new database, as the function that puts a record into it."""

    def __call__(
        self, path: str | os.PathLike[str], *, replace: bool = False
    ) -> AbstractContextManager[Put]: ...


@dataclass(frozen=True)
class Backend:
    """One kind of database: how it is told from others, read and written."""

    name: str  # "lmdb"
    called: str  # "an LMDB"
    mark: str  # a file in its folder that no other kind has
    open: Callable[[str], Source]
    new: Makes
    records: Callable[[str], Iterator[tuple[bytes, bytes]]]  # each once, in the order of the keys
    count: Callable[[str], int | None] = lambda path: None  # None: not without reading them all

    def is_at(self, path: str) -> bool:
        return os.path.exists(os.path.join(path, self.mark))


@cache
def backends() -> dict[str, Backend]:
    """Every kind, by its name; LMDB, which is the usual one, comes first."""
    names = sorted((m.name for m in pkgutil.iter_modules(__path__)), key=lambda n: (n != "lmdb", n))
    return {name: backend(name) for name in names}


def backend(name: str) -> Backend:
    found: Backend = importlib.import_module(f"{__name__}.{name}").BACKEND
    return found


def open_source(path: str, kind: int) -> Source:
    """Open the database ``path`` of the kind that a DataParameter's ``backend`` names.

    Raises:
        FileError: it is missing, empty, damaged, or of another kind.
    """
    if not path:
        raise FileError("data_param has no source")
    if not os.path.exists(path):
        here = "" if os.path.isabs(path) else f" (looked for in {os.getcwd()})"
        raise FileError(f"{path}: there is no such database{here}")
    name = DataParameter.DB.Name(kind)
    for other in backends().values():
        if other.name != name.lower() and other.is_at(path):
            right, default = other.name.upper(), DataParameter().backend
            raise FileError(
                f"{path}: is {other.called}; write `backend: {right}` into data_param "
                f"({DataParameter.DB.Name(default)} is the default)"
                if kind == default
                else f"{path}: is {other.called}, the net says `backend: {name}`"
            )
    return backend(name.lower()).open(path)
