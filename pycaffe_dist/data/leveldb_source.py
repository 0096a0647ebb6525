"""LevelDB databases, read without locks: readers on any number of machines do not meet."""

from __future__ import annotations

from itertools import chain

from pycaffe_dist.data.datum import LARGE
from pycaffe_dist.data.leveldb.log import Payload
from pycaffe_dist.data.leveldb.reader import LevelDB
from pycaffe_dist.data.leveldb.table import Record
from pycaffe_dist.data.source import Buffer, Source


class LevelDBSource(Source):
    """All records of a LevelDB."""

    _here: Record  # at the position

    def _open(self) -> None:
        self._database = LevelDB(self.path)

    def read(self) -> tuple[bytes, bytes]:
        """In one step: several calls would take longer than all the rest for a small record."""
        key, buffer, begin, end = self._here
        self._at += 1
        for following in self._records:  # one step of it, quicker than a call of next()
            self._here = following
            break
        else:
            self.restarts += 1
            self._rewind()
        return key, buffer[begin:end]

    def view(self) -> tuple[bytes, Buffer]:
        """Only large values that are in one piece are worth a view."""
        key, buffer, begin, end = self._here
        if end - begin < LARGE or isinstance(buffer, Payload):
            return self.read()
        self.skip()
        return key, memoryview(buffer)[begin:end]

    def _first(self) -> bool:
        return self._go(b"")

    def _last(self) -> None:
        """A walk, as that of ``count``: only forwards is there a way."""
        while True:
            here = self._here
            if not self._next():
                self._here = here
                return

    def _next(self) -> bool:
        found = next(self._records, None)
        if found is None:
            return False
        self._here = found
        return True

    def _go(self, key: bytes) -> bool:
        self._records = chain.from_iterable(self._database.records(key))
        return self._next()

    def _key(self) -> bytes:
        return self._here[0]

    def _record(self) -> tuple[bytes, Buffer]:
        key, buffer, begin, end = self._here
        return key, buffer[begin:end]

    def close(self) -> None:
        """Give the files up; values that were viewed stay."""
        del self._records, self._here, self._database
