"""LevelDB: a folder of sorted tables and a log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pycaffe_dist.data.backends import Backend
from pycaffe_dist.data.leveldb.reader import LevelDB
from pycaffe_dist.data.leveldb_source import LevelDBSource
from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import FileError


def records(path: str) -> Iterator[tuple[bytes, bytes]]:
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


BACKEND = Backend("leveldb", "a LevelDB", "CURRENT", LevelDBSource, new_leveldb, records)
