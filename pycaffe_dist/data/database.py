"""Databases as a whole, of either kind: made anew, or read once from end to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from itertools import chain

from pycaffe_dist.data.leveldb.reader import LevelDB
from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.data.lmdb_source import LMDBSource
from pycaffe_dist.data.lmdb_writer import Record, count_records, new_lmdb, put_all
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import FileError

BACKENDS = ("lmdb", "leveldb")
Put = Callable[[bytes, bytes], None]


def new_database(
    path: str | os.PathLike[str], backend: str, *, replace: bool = False
) -> AbstractContextManager[Put]:
    """A new database, as the function that puts a record into it: see :func:`new_lmdb`."""
    make = new_lmdb if backend == "lmdb" else new_leveldb
    return make(path, replace=replace)


def write_database(path: str | os.PathLike[str], backend: str, records: Iterable[Record]) -> int:
    """Write a new database and return its number of records."""
    with new_database(path, backend) as put:
        return put_all(put, records)


def kind_of(path: str, backend: str | None = None) -> str:
    """Of which kind a database is.

    Raises:
        FileError: there is none, or it is of another kind than ``backend``.
    """
    if os.path.exists(os.path.join(path, "CURRENT")):
        kind = "leveldb"
    elif os.path.isfile(path) or os.path.exists(os.path.join(path, "data.mdb")):
        kind = "lmdb"
    elif os.path.exists(path):
        raise FileError(
            f"{path}: is not a database: it has neither data.mdb (LMDB) nor CURRENT (LevelDB)"
        )
    else:
        raise FileError(f"{path}: there is no such database")
    if backend not in (None, kind):
        raise FileError(f"{path}: is of the kind {kind}, not {backend}: say -backend {kind}")
    return kind


def size_of(path: str, kind: str) -> int | None:
    """The number of records where it is known without reading them.

    Raises:
        FileError: an LMDB that cannot be read, or is cut short.
    """
    return count_records(path) if kind == "lmdb" else None


def records_of(path: str, kind: str) -> Iterator[Record]:
    """Every record once, in the order of the keys.

    Raises:
        FileError: the database is empty, or cannot be read, or not to its end.
    """
    return _lmdb_records(path) if kind == "lmdb" else _leveldb_records(path)


def _lmdb_records(path: str) -> Iterator[Record]:
    with closing(LMDBSource(path)) as source:
        while not source.restarts:
            yield source.read()


def _leveldb_records(path: str) -> Iterator[Record]:
    last = None
    try:
        for key, buffer, begin, end in chain.from_iterable(LevelDB(path).records()):
            yield key, buffer[begin:end]
            last = key
    except FileError as e:
        if last is None:
            raise
        raise FileError(f"{path}: cannot be read beyond the record {key_text(last)}: {e}") from e
    if last is None:
        raise FileError(f"{path}: the database is empty")
