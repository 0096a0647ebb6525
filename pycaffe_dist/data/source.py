"""Databases of records, read round and round in the order of their keys."""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod

from pycaffe_dist.errors import FileError
from pycaffe_dist.proto.caffe_pb2 import DataParameter

log = logging.getLogger(__name__)


class Source(ABC):
    """A position in a database; behind the last record comes the first again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open()
        if not self._first():
            raise FileError(f"{path}: the database is empty")

    def read(self) -> tuple[bytes, bytes]:
        """Key and value of the record at the position, which moves on."""
        record = self._record()
        self.skip()
        return record

    def skip(self) -> None:
        """Move on by one record without reading it."""
        if not self._next():
            log.info("Restarting data prefetching from start.")
            self._first()

    @abstractmethod
    def close(self) -> None: ...

    # -- what a kind of database writes ------------------------------------------------------

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _first(self) -> bool:
        """Go to the first record; False if there is none."""

    @abstractmethod
    def _next(self) -> bool:
        """Go to the next record; False if there is none."""

    @abstractmethod
    def _record(self) -> tuple[bytes, bytes]: ...


def open_source(path: str, backend: int) -> Source:
    """Open the database ``path`` of the kind that a DataParameter's ``backend`` names.

    Raises:
        FileError: it is missing, empty, damaged, or of the other kind.
    """
    # Here and not above: each kind brings its own library.
    from pycaffe_dist.data.leveldb_source import LevelDBSource
    from pycaffe_dist.data.lmdb_source import LMDBSource

    if not path:
        raise FileError("data_param has no source")
    if not os.path.exists(path):
        here = "" if os.path.isabs(path) else f" (looked for in {os.getcwd()})"
        raise FileError(f"{path}: there is no such database{here}")
    if backend == DataParameter.LMDB:
        if os.path.exists(os.path.join(path, "CURRENT")):
            raise FileError(f"{path}: is a LevelDB, the net says `backend: LMDB`")
        return LMDBSource(path)
    if os.path.exists(os.path.join(path, "data.mdb")):
        raise FileError(
            f"{path}: is an LMDB; write `backend: LMDB` into data_param (LEVELDB is the default)"
        )
    return LevelDBSource(path)
