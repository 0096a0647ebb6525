"""LMDB databases, read without locks: readers on any number of machines do not meet."""

from __future__ import annotations

import os
from weakref import WeakValueDictionary

import lmdb

from pycaffe_dist.data.source import Source
from pycaffe_dist.errors import FileError

# A process may open a database once only; a net's phases often read the same one.
_environments: WeakValueDictionary[str, lmdb.Environment] = WeakValueDictionary()


class LMDBSource(Source):
    """The unnamed database of an LMDB environment."""

    def _open(self) -> None:
        self._environment = _environment(self.path)
        self._transaction = self._environment.begin()
        self._cursor = self._transaction.cursor()

    def _first(self) -> bool:
        return bool(self._cursor.first())

    def _next(self) -> bool:
        return bool(self._cursor.next())

    def _record(self) -> tuple[bytes, bytes]:
        key, value = self._cursor.item()
        return key, value

    def close(self) -> None:
        """Give the position up; the environment is closed with its last reader."""
        self._cursor.close()
        self._transaction.abort()
        del self._environment


def _environment(path: str) -> lmdb.Environment:
    known = os.path.realpath(path)
    environment = _environments.get(known)
    if environment is None:
        try:
            environment = lmdb.open(
                known, subdir=os.path.isdir(known), readonly=True, lock=False, create=False
            )
        except lmdb.Error as e:
            raise FileError(f"{path}: is not a readable LMDB: {e}") from e
        _environments[known] = environment
    return environment
