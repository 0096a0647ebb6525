"""Memory that values use in turn: rooms are cut from ranges of addresses, the lowest place first.

Backward gives back in the reverse order of what forward took, so what is free is mostly in one
piece, and room for values of any size.  Pages of a range that nobody wrote to cost nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.memory import LINE, Home, aligned

SMALLEST = 1 << 26  # bytes of the first range; each new one is as large as all before


class Span(NamedTuple):
    """Where a room is in a pool, in bytes: ``begin`` <= x < ``end``."""

    begin: int
    end: int


class Spans:
    """Spans that do not touch each other, in order."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._spans = list(spans)

    def __iter__(self) -> Iterator[Span]:
        return iter(self._spans)

    def first(self, size: int) -> Span | None:
        """The beginning of the lowest span that has so much."""
        for begin, end in self._spans:
            if end - begin >= size:
                return Span(begin, begin + size)
        return None

    def covers(self, span: Span) -> bool:
        i = self._last_before(span.begin)
        return i >= 0 and span.end <= self._spans[i].end

    def add(self, span: Span) -> None:
        """Add a span, none of which is there yet, and join it with its neighbours."""
        at = bisect_left(self._spans, span)
        begin, end = span
        if at < len(self._spans) and self._spans[at].begin == end:
            end = self._spans.pop(at).end
        if at and self._spans[at - 1].end == begin:
            at -= 1
            begin = self._spans.pop(at).begin
        self._spans.insert(at, Span(begin, end))

    def remove(self, span: Span) -> None:
        """Take out a span that is covered."""
        i = self._last_before(span.begin)
        begin, end = self._spans[i]
        parts = Span(begin, span.begin), Span(span.end, end)
        self._spans[i : i + 1] = [part for part in parts if part.begin < part.end]

    def _last_before(self, begin: int) -> int:
        """The index of the last span that begins there or before."""
        return bisect_right(self._spans, begin, key=lambda span: span.begin) - 1


class Pool:
    """Rooms in the memory of the CPU, which are free when they are given back.

    A room at a place is the same array each time, so that who has prepared something for it knows
    it again.
    """

    def __init__(self) -> None:
        self._free = Spans()
        self._ranges: dict[int, Array] = {}  # by where they begin: after all others, and a gap
        self._tops: dict[int, int] = {}  # how much of a range has ever been used
        self._end = 0
        self._rooms: dict[tuple[int, int, DType], Array] = {}  # by begin, size and type
        self._spans: dict[int, Span] = {}  # by the identity of rooms

    @property
    def allocated(self) -> int:
        """Bytes of memory that have been used."""
        return sum(self._tops.values())

    def room(self, home: Home, count: int, dtype: DType) -> Array:
        """Room in ``home`` for ``count`` numbers, with anything in it."""
        return self.take(home.size_of(count, dtype), home.numbers(dtype))

    def take(self, size: int, dtype: DType) -> Array:
        """A room of ``size`` bytes with anything in it."""
        whole = max(1, -(-size // LINE)) * LINE  # rooms begin at cache lines
        span = self._free.first(whole) or self._grown(whole)
        self._free.remove(span)
        key = span.begin, size, dtype
        if key not in self._rooms:
            room = self._rooms[key] = self._cut(span, size).view(dtype)
            self._spans[id(room)] = span
        return self._rooms[key]

    def _grown(self, size: int) -> Span:
        """A new range; the beginning of it."""
        try:
            bytes_ = max(size, SMALLEST, sum(r.nbytes for r in self._ranges.values()))
            values = aligned(bytes_, np.dtype(np.uint8))
        except MemoryError:
            values = aligned(size, np.dtype(np.uint8))
        begin = self._end
        self._ranges[begin], self._tops[begin] = values, 0
        self._end += len(values) + LINE  # spans of two ranges never touch
        self._free.add(Span(begin, begin + len(values)))
        return Span(begin, begin + size)

    def _cut(self, span: Span, size: int) -> Array:
        begin = max(b for b in self._ranges if b <= span.begin)
        self._tops[begin] = max(self._tops[begin], span.end - begin)
        return self._ranges[begin][span.begin - begin :][:size]

    def give(self, room: Array) -> None:
        """Let others have it.  A room that is not of the pool goes with its last user."""
        span = self._spans.get(id(room))
        if span:
            assert not self._free.covers(span), f"{span} is given back twice"
            self._free.add(span)

    def free(self) -> Spans:
        """What is free now."""
        return Spans(self._free)

    def span(self, room: Array) -> Span | None:
        """Where a room is, if it is of this pool."""
        return self._spans.get(id(room))

    def has_free(self, spans: Iterable[Span]) -> bool:
        return all(map(self._free.covers, spans))

    def exchange(self, given: Iterable[Array], taken: Iterable[Array]) -> None:
        """Some rooms become free, others, which are free, are taken."""
        for room in given:
            self.give(room)
        for span in map(self.span, taken):
            if span:
                self._free.remove(span)
