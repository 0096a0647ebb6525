"""LevelDBs for scripts that use the modules ``leveldb`` or ``plyvel``, which need not be there.

A database that exists is read; a new one is written, and is whole when the script ends or reads it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain

from pycaffe_dist.data.leveldb.reader import LevelDB
from pycaffe_dist.data.leveldb_writer import new_leveldb
from pycaffe_dist.errors import FileError
from pycaffe_dist.py2.strings import ByteStr, as_bytes
from pycaffe_dist.py2.values import Value

Changes = list[tuple[bytes, bytes | None]]  # None: the key goes


class Database:
    """A LevelDB in the folder ``path``.

    Raises:
        FileError: it is there and must not be, is not there and must be, or is damaged.
    """

    def __init__(self, path: Value, create_if_missing: bool = True, error_if_exists: bool = False):
        self.path = str(path)
        there = os.path.exists(os.path.join(self.path, "CURRENT"))
        if there and error_if_exists:
            raise FileError(f"{self.path}: exists, and error_if_exists is set")
        if not there and not create_if_missing:
            raise FileError(f"{self.path}: there is no LevelDB, and create_if_missing is not set")
        self._reader: LevelDB | None = LevelDB(self.path) if there else None
        if not there:
            if os.path.isdir(self.path) and not os.listdir(self.path):
                os.rmdir(self.path)
            writing = ExitStack()
            self._put = writing.enter_context(new_leveldb(self.path, updates=True))
            self._finish = weakref.finalize(self, writing.close)  # also where nobody closes it

    def change(self, changes: Changes) -> None:
        """Put records, and delete records, in this order."""
        if self._reader is not None:
            raise FileError(
                f"{self.path}: a LevelDB that exists is only read. Remove it and write it anew, "
                "or choose another name."
            )
        for key, value in changes:
            self._put(key, value)

    def close(self) -> None:
        """Write the records of a new database."""
        if self._reader is None:
            self._finish()
            self._reader = LevelDB(self.path)

    def records(self, start: bytes = b"") -> Iterator[tuple[ByteStr, ByteStr]]:
        """Keys and values from the key ``start`` on."""
        self.close()
        assert self._reader is not None
        for key, buffer, begin, end in chain.from_iterable(self._reader.records(start)):
            yield ByteStr(key), ByteStr(buffer[begin:end])

    def get(self, key: Value) -> ByteStr | None:
        wanted = as_bytes(key)
        found = next(self.records(wanted), None)
        return found[1] if found and bytes(found[0]) == bytes(wanted) else None


class Batch:
    """Changes that are made together."""

    def __init__(self) -> None:
        self.changes: Changes = []

    def put(self, key: Value, value: Value) -> None:
        self.changes.append((bytes(as_bytes(key)), bytes(as_bytes(value))))

    def delete(self, key: Value) -> None:
        self.changes.append((bytes(as_bytes(key)), None))
