"""Arrays on their way between ranks, in chunks, a few of them at a time.

Chunks keep the wire busy in both directions while what has come is being added up, and bound the
memory of what is under way.  Between two ranks messages of one tag keep their order, so chunks need
no numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.transport.budget import TokenBucket
from pycaffe_dist.parallel.transport.communicator import Communicator, Request
from pycaffe_dist.parallel.transport.wire import Wire

CHUNK = 1 << 16  # values
WINDOW = 8  # chunks under way to or from one rank


class Port:
    """Where arrays leave and enter a rank.

    Args:
        communicator: whose calls move them.
        wire: the format in which they travel.
        pace: the budget of what leaves the node; None for no limit.
    """

    def __init__(
        self, communicator: Communicator, wire: Wire | None = None, pace: TokenBucket | None = None
    ) -> None:
        self.communicator = communicator
        self.wire = wire or Wire()
        self.pace = pace

    def allows(self, ranks: Sequence[int], size: int) -> bool:
        """Whether the budget has room for ``size`` bytes to each of ``ranks`` now."""
        if self.pace is None:
            return True
        nodes = self.communicator.nodes.of_rank
        far = sum(nodes[rank] != nodes[self.communicator.rank] for rank in ranks)
        return not far or self.pace.take(far * size)


class Sending:
    """A flat array on its way to a rank; it must not change until ``finished``."""

    def __init__(self, port: Port, values: Array, to: int, tag: int) -> None:
        self._port, self._values, self._to, self._tag = port, values, to, tag
        self._next = 0
        self._under_way: deque[tuple[Request, Array]] = deque()

    @property
    def finished(self) -> bool:
        return self._next >= self._values.size and not self._under_way

    def step(self) -> bool:
        """Let go of what has arrived, send what there is room for; whether anything moved."""
        before = self._next, len(self._under_way)
        while self._under_way and self._under_way[0][0].test():
            self._under_way.popleft()
        size = self._port.wire.size(self._values.dtype)
        while self._next < self._values.size and len(self._under_way) < WINDOW:
            values = self._values[self._next : self._next + CHUNK]
            if not self._port.allows([self._to], values.size * size):
                break
            packed = self._port.wire.pack(values)
            request = self._port.communicator.isend(packed, self._to, self._tag)
            self._under_way.append((request, packed))
            self._next += CHUNK
        return before != (self._next, len(self._under_way))


class Receiving:
    """A flat array on its way from a rank.

    Args:
        into: where it goes, whole chunks at a time; None if ``take`` only passes them on.
    """

    def __init__(
        self,
        port: Port,
        count: int,
        dtype: DTypeLike,
        source: int,
        tag: int,
        into: Array | None = None,
    ) -> None:
        self._port, self._count, self._dtype = port, count, np.dtype(dtype)
        self._source, self._tag, self._into = source, tag, into
        self.taken = 0  # values
        self._posted = 0
        self._under_way: deque[tuple[Request, Array]] = deque()
        self._post()

    @property
    def finished(self) -> bool:
        return self.taken >= self._count

    def take(self) -> Array | None:
        """The next chunk, which begins at ``taken - its size``, or None if it is not here yet."""
        if not self._under_way or not self._under_way[0][0].test():
            return None
        packed = self._under_way.popleft()[1]
        begin = self.taken
        self.taken += packed.size
        self._post()
        values = self._port.wire.unpack(packed)
        if self._into is not None and not self._port.wire.exact:
            self._into[begin : self.taken] = values
        return values

    def _post(self) -> None:
        while self._posted < self._count and len(self._under_way) < WINDOW:
            size = min(CHUNK, self._count - self._posted)
            if self._into is not None and self._port.wire.exact:
                room = self._into[self._posted : self._posted + size]
            else:
                room = self._port.wire.room(size, self._dtype)
            request = self._port.communicator.irecv(room, self._source, self._tag)
            self._under_way.append((request, room))
            self._posted += size
