"""LevelDB databases, through plyvel."""

from __future__ import annotations

import os
from weakref import WeakValueDictionary

from pycaffe_dist.data.source import Buffer, Source
from pycaffe_dist.errors import FileError
from pycaffe_dist.optional import require


class LevelDBSource(Source):
    """All records of a LevelDB."""

    def _open(self) -> None:
        self._handle = _handle(self.path)
        self._iterator = self._handle.database.raw_iterator()

    def _first(self) -> bool:
        self._iterator.seek_to_first()
        return bool(self._iterator.valid())

    def _last(self) -> None:
        self._iterator.seek_to_last()

    def _next(self) -> bool:
        self._iterator.next()
        return bool(self._iterator.valid())

    def _go(self, key: bytes) -> bool:
        self._iterator.seek(key)
        return bool(self._iterator.valid())

    def _key(self) -> bytes:
        return bytes(self._iterator.key())

    def _record(self) -> tuple[bytes, Buffer]:
        key, value = self._iterator.item()
        return key, value

    def close(self) -> None:
        """Give the position up; the database is closed with its last reader."""
        self._iterator.close()
        del self._iterator, self._handle


class _Handle:
    """An open database, closed when nobody holds it any more."""

    def __init__(self, path: str) -> None:
        plyvel = require("plyvel", "leveldb", "Reading a LevelDB")
        try:
            self.database = plyvel.DB(path, create_if_missing=False)
        except plyvel.Error as e:
            text = b" ".join(e.args).decode(errors="replace")
            if "lock" in text:
                text += "\nOnly one process at a time may read a LevelDB: convert it to LMDB."
            raise FileError(f"{path}: is not a readable LevelDB: {text}") from e


# LevelDB locks a database for the one handle that has opened it; a net's phases share it.
_handles: WeakValueDictionary[str, _Handle] = WeakValueDictionary()


def _handle(path: str) -> _Handle:
    known = os.path.realpath(path)
    handle = _handles.get(known)
    if handle is None:
        handle = _handles[known] = _Handle(known)
    return handle
