"""Databases as a whole, of either kind: made anew, or read once from end to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

import lmdb

from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.data.lmdb_writer import Record, count_records, new_lmdb
from pycaffe_dist.errors import FileError
from pycaffe_dist.optional import require

BACKENDS = ("lmdb", "leveldb")
Put = Callable[[bytes, bytes], None]


def new_database(path: str | os.PathLike[str], backend: str) -> AbstractContextManager[Put]:
    """A new database, as the function that puts a record into it: see :func:`new_lmdb`."""
    return new_lmdb(path) if backend == "lmdb" else new_leveldb(path)


def write_database(path: str | os.PathLike[str], backend: str, records: Iterable[Record]) -> int:
    """Write a new database and return its number of records."""
    count = 0
    with new_database(path, backend) as put:
        for count, record in enumerate(records, 1):  # noqa: B007
            put(*record)
    return count


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
    return count_records(path) if kind == "lmdb" and os.path.isdir(path) else None


def records_of(path: str, kind: str) -> Iterator[Record]:
    """Every record once, in the order of the keys.

    Raises:
        FileError: the database cannot be read, or not to its end.
    """
    last = None
    failures: tuple[Any, ...] = (lmdb.Error,)
    if kind == "leveldb":
        plyvel = require("plyvel", "leveldb", "Reading a LevelDB")
        failures = (plyvel.Error,)
    try:
        for key, value in _lmdb(path) if kind == "lmdb" else _leveldb(plyvel, path):
            yield key, value
            last = key
    except failures as e:
        text = " ".join(a.decode(errors="replace") if isinstance(a, bytes) else a for a in e.args)
        where = f"cannot be read beyond the record {last!r}" if last else "cannot be read"
        raise FileError(f"{path}: {where}: {text}") from e


def _lmdb(path: str) -> Iterator[Record]:
    size_of(path, "lmdb")  # reading behind the end of a file that was cut would kill the process
    with lmdb.open(
        path, subdir=os.path.isdir(path), readonly=True, lock=False, create=False
    ) as env, env.begin() as transaction:
        yield from transaction.cursor()


def _leveldb(plyvel: Any, path: str) -> Iterator[Record]:
    with closing(plyvel.DB(path, create_if_missing=False)) as database:
        yield from database.iterator(verify_checksums=True)
