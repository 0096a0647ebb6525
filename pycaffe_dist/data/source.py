"""Databases of records, read round and round in the order of their keys."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from pycaffe_dist.errors import FileError

Buffer = bytes | memoryview

NEAR = 64  # records that are walked rather than sought; also how far apart the index's keys are
_NUMBER = re.compile(rb"\d+")


def key_text(key: bytes) -> str:
    """A record's key for people; one that is no printable text with Python's escapes."""
    text = key.decode(errors="backslashreplace")
    return text if text.isprintable() else repr(key)[2:-1]


class Source(ABC):
    """A position in a database; behind the last record comes the first again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.restarts = 0  # how often the first record came again
        self._at = 0  # the number of the record at the position
        self._count: int | None = None
        self._numbers: tuple[int, int] | None = None  # digits and first number of regular keys
        self._marks: list[bytes] = []  # else every NEAR-th key
        self._open()
        if not self._first():
            raise FileError(f"{path}: the database is empty")

    def read(self) -> tuple[bytes, bytes]:
        """Key and value of the record at the position, which moves on."""
        key, value = self.view()
        return key, bytes(value)

    def view(self) -> tuple[bytes, Buffer]:
        """As ``read``, without a copy: the value is there as long as the source is open."""
        record = self._record()
        self.skip()
        return record

    def skip(self) -> None:
        """Move on by one record without reading it."""
        self._at += 1
        if not self._next():
            self.restarts += 1
            self._rewind()

    def _rewind(self) -> None:
        self._first()
        self._at = 0

    def reopen(self) -> None:
        """Begin at the first record anew: in a forked process, which has no thread of its parent.

        What such a thread had in hand at that moment, a cursor or an index, may be half done.
        """
        self._marks = []
        self._begin()
        self._rewind()

    # -- any record --------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """The number of records."""
        if self._count is None:
            self._count = self._count_records()
        return self._count

    @property
    def quick_count(self) -> int | None:
        """The number of records, if the database knows it without a walk."""
        return None

    def seek(self, index: int) -> None:
        """Go to record ``index`` in the order of keys.

        Keys that begin with consecutive numbers, as Caffe's tools write them, are found at once;
        of others an index is made by walking over them once.
        """
        if not 0 <= index < self.count:
            raise FileError(f"{self.path}: has {self.count} records; there is no record {index}")
        if not 0 <= index - self._at < NEAR and not self._find_number(index):
            if not self._marks and self._walk() != self.count:
                raise FileError(
                    f"{self.path}: is damaged: it has not the {self.count} records it claims"
                )
            self._go(self._marks[index // NEAR])
            self._at = index - index % NEAR
        while self._at < index:
            self._next()
            self._at += 1

    def _find_number(self, index: int) -> bool:
        if self._marks:
            return False
        if self._numbers is None:
            self._numbers = self._regular()
        digits, first = self._numbers
        wanted = b"%0*d" % (digits, first + index)
        if not digits or not self._go(wanted) or _leading_number(self._key()) != wanted:
            self._numbers = (0, 0)
            return False
        self._at = index
        return True

    def _regular(self) -> tuple[int, int]:
        """How many digits the keys' numbers have, and the first; (0, 0) if they are not regular."""
        self._first()
        first = _leading_number(self._key())
        self._last()
        last = _leading_number(self._key())
        self._rewind()
        if not first or len(first) != len(last) or int(last) - int(first) != self.count - 1:
            return 0, 0
        return len(first), int(first)

    def _count_records(self) -> int:
        here = self._key()
        count = self._walk()
        self._go(here)
        return count

    def _walk(self) -> int:
        self._marks, count, more = [], 0, self._first()
        while more:
            if count % NEAR == 0:
                self._marks.append(self._key())
            count += 1
            more = self._next()
        return count

    # -- what a kind of database writes ------------------------------------------------------

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _open(self) -> None: ...

    def _begin(self) -> None:
        """A position in the database that owes nothing to the one before."""
        self._open()

    @abstractmethod
    def _first(self) -> bool:
        """Go to the first record; False if there is none."""

    @abstractmethod
    def _last(self) -> None: ...

    @abstractmethod
    def _next(self) -> bool:
        """Go to the next record; False if there is none."""

    @abstractmethod
    def _go(self, key: bytes) -> bool:
        """Go to the first record from ``key`` on; False if there is none."""

    @abstractmethod
    def _key(self) -> bytes: ...

    @abstractmethod
    def _record(self) -> tuple[bytes, Buffer]: ...


def _leading_number(key: bytes) -> bytes:
    match = _NUMBER.match(key)
    return match[0] if match else b""
