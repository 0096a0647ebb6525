"""Databases as a whole, of any kind: made anew, or read once from end to end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from pycaffe_dist.data.backends import Put, backend, backends
from pycaffe_dist.data.lmdb_writer import Record, put_all
from pycaffe_dist.errors import FileError

BACKENDS = tuple(backends())


def new_database(
    path: str | os.PathLike[str], kind: str, *, replace: bool = False
) -> AbstractContextManager[Put]:
    """A new database, as the function that puts a record into it: see :func:`new_lmdb`."""
    return backend(kind).new(path, replace=replace)


def write_database(path: str | os.PathLike[str], kind: str, records: Iterable[Record]) -> int:
    """Write a new database and return its number of records."""
    with new_database(path, kind) as put:
        return put_all(put, records)


def kind_of(path: str, asked: str | None = None) -> str:
    """Of which kind a database is.

    Raises:
        FileError: there is none, or it is of another kind than ``asked``.
    """
    found = [one.name for one in backends().values() if one.is_at(path)]
    if not found and os.path.isfile(path):
        found = ["lmdb"]  # which may be one file without a folder
    if not found:
        if not os.path.exists(path):
            raise FileError(f"{path}: there is no such database")
        marks = [f"{one.mark} ({one.called.split()[-1]})" for one in backends().values()]
        raise FileError(f"{path}: is not a database: it has neither {' nor '.join(marks)}")
    kind = found[-1]
    if asked not in (None, kind):
        raise FileError(f"{path}: is of the kind {kind}, not {asked}: say -backend {kind}")
    return kind


def size_of(path: str, kind: str) -> int | None:
    """The number of records where it is known without reading them.

    Raises:
        FileError: an LMDB that cannot be read, or is cut short.
    """
    return backend(kind).count(path)


def records_of(path: str, kind: str) -> Iterator[Record]:
    """Every record once, in the order of the keys.

    Raises:
        FileError: the database is empty, or cannot be read, or not to its end.
    """
    return backend(kind).records(path)
