"""LMDB databases, read without locks: readers on any number of machines do not meet."""

from __future__ import annotations

import gc
import os
import time
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pycaffe_dist.data.lmdb_pages import check_pages
from pycaffe_dist.data.source import Buffer, Source, key_text
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import reading
from pycaffe_dist.optional import LazyModule

if TYPE_CHECKING:
    import lmdb
else:
    lmdb = LazyModule("lmdb", "lmdb", "Reading and writing LMDBs")

CLOSING_SECONDS = 5.0
# A process may open a database once only; a net's phases often read the same one.
environments: WeakValueDictionary[str, lmdb.Environment] = WeakValueDictionary()


class LMDBSource(Source):
    """The unnamed database of an LMDB environment."""

    def _open(self) -> None:
        self._environment = open_environment(self.path)
        self._begin()

    def _begin(self) -> None:
        with reading(self.path, "is a damaged LMDB"):
            self._transaction = self._environment.begin(buffers=True)
            self._cursor = self._transaction.cursor()

    def _first(self) -> bool:
        with reading(self.path, "is damaged at its first record"):
            return bool(self._cursor.first())

    def _last(self) -> None:
        with reading(self.path, "is damaged at its last record"):
            self._cursor.last()

    def _next(self) -> bool:
        try:  # as the others, but without the microseconds of a `with`
            return bool(self._cursor.next())
        except lmdb.Error as e:
            raise FileError(f"{self.path}: is damaged behind record {self._at}: {e}") from e

    def _go(self, key: bytes) -> bool:
        with reading(self.path, f"is damaged before the record {key_text(key)}"):
            return bool(self._cursor.set_range(key))

    def _key(self) -> bytes:
        return bytes(self._cursor.key())

    def _record(self) -> tuple[bytes, Buffer]:
        key, value = self._cursor.item()
        return bytes(key), value

    @property
    def quick_count(self) -> int | None:
        return self.count

    def _count_records(self) -> int:
        return int(self._environment.stat()["entries"])

    def close(self) -> None:
        """Give the position up; the environment is closed with its last reader."""
        self._cursor.close()
        self._transaction.abort()
        del self._environment


def open_environment(path: str) -> lmdb.Environment:
    """The environment at ``path`` for reading, the same for all who ask; do not close it.

    Raises:
        FileError: there is no database, or its file is cut short or damaged.
    """
    known = os.path.realpath(path)
    environment = environments.get(known)
    if environment is None:
        folder = os.path.isdir(known)
        check_pages(os.path.join(known, "data.mdb") if folder else known, path)
        with reading(path, "is not a readable LMDB"):
            environment = _open_once(known, folder)
        environments[known] = environment
    return environment


def _open_once(path: str, folder: bool) -> lmdb.Environment:
    """Open an environment, waiting for one that a thread is about to close."""
    patience = time.monotonic() + CLOSING_SECONDS
    while True:
        try:
            return lmdb.open(path, subdir=folder, readonly=True, lock=False, create=False)
        except lmdb.Error as e:
            if "already open" not in str(e) or time.monotonic() > patience:
                raise
            gc.collect()
            time.sleep(0.01)
