"""Communicator: the ranks of a run, and how an array gets from one of them to another.

Every exchange between ranks is built on four calls: send, receive, ask whether they are done, and
memory that the ranks of a node share.  So a communicator is small, and what is counted here is what
really travels.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array

T = TypeVar("T")
# An exchange under way: it yields whether it moved since it was last asked, and returns its result.
Steps = Generator[bool, None, T]

SHORTEST_SLEEP, LONGEST_SLEEP = 100e-6, 400e-6  # seconds


class Request(Protocol):
    """A send or a receive under way."""

    def test(self) -> bool:
        """Whether it is done; once it is, always."""


class _Arrival:
    """A receive that is noted when it is done."""

    __slots__ = ("_communicator", "_request", "_size", "_source", "_there")

    def __init__(
        self, communicator: Communicator, request: Request, source: int, size: int
    ) -> None:
        self._communicator, self._request = communicator, request
        self._source, self._size = source, size
        self._there = False

    def test(self) -> bool:
        if not self._there and self._request.test():
            self._there = True
            self._communicator.arrived(self._source, self._size)
        return self._there


@dataclass(frozen=True)
class Nodes:
    """Which rank is on which node; a node's leader is its lowest rank."""

    of_rank: tuple[int, ...]  # node numbers, counted in the order of the nodes' leaders
    names: tuple[str, ...]  # host names, by node

    @staticmethod
    def by_host(hosts: list[str]) -> Nodes:
        names = tuple(dict.fromkeys(hosts))
        return Nodes(tuple(names.index(host) for host in hosts), names)

    @property
    def count(self) -> int:
        return len(self.names)

    def ranks_on(self, node: int) -> tuple[int, ...]:
        return tuple(rank for rank, n in enumerate(self.of_rank) if n == node)

    def mates(self, rank: int) -> tuple[int, ...]:
        """The ranks on the node of ``rank``, itself among them."""
        return self.ranks_on(self.of_rank[rank])

    @property
    def leaders(self) -> tuple[int, ...]:
        return tuple(self.of_rank.index(node) for node in range(self.count))

    def host(self, rank: int) -> str:
        return self.names[self.of_rank[rank]]


class Communicator(ABC):
    """A process among the ranks.

    Messages between two ranks with the same tag arrive in the order in which they were sent.  Only
    one thread at a time may use a communicator.

    Attributes:
        rank, size: which of how many ranks this is.
        nodes: who shares a machine with whom.
        sent, received: bytes of messages to and from other ranks.
        sent_out: those of ``sent`` that went to another node.
    """

    def __init__(self, rank: int, size: int, nodes: Nodes) -> None:
        self.rank, self.size, self.nodes = rank, size, nodes
        self.sent = self.received = self.sent_out = 0
        self._expected = [0] * size

    def isend(self, array: Array, to: int, tag: int) -> Request:
        """Begin to send a contiguous array, which must stay as it is until the request is done."""
        self.sent += array.nbytes
        if self.nodes.of_rank[to] != self.nodes.of_rank[self.rank]:
            self.sent_out += array.nbytes
        return self._isend(array, to, tag)

    def irecv(self, array: Array, source: int, tag: int) -> Request:
        """Begin to receive an array of at most this size."""
        self._expected[source] += 1
        return _Arrival(self, self._irecv(array, source, tag), source, array.nbytes)

    def awaited(self) -> list[int]:
        """The ranks of which something is expected."""
        return [rank for rank, count in enumerate(self._expected) if count]

    def arrived(self, source: int, size: int) -> None:
        self._expected[source] -= 1
        self.received += size

    @abstractmethod
    def _isend(self, array: Array, to: int, tag: int) -> Request: ...

    @abstractmethod
    def _irecv(self, array: Array, source: int, tag: int) -> Request: ...

    @abstractmethod
    def share(self, count: int, dtype: DTypeLike) -> Array:
        """Zeros that all ranks of the node see and may change; they all call this together."""

    @abstractmethod
    def abort(self, code: int) -> None:
        """End all ranks, now."""

    @abstractmethod
    def close(self) -> None:
        """Take leave of the others; no call may follow."""


def run(steps: Steps[T], idle: Callable[[float], object] = time.sleep) -> T:
    """Take an exchange to its end in this thread, sleeping while it waits."""
    pause = SHORTEST_SLEEP
    while True:
        try:
            moved = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if moved:
            pause = SHORTEST_SLEEP
        else:
            idle(pause)
            pause = min(pause * 1.5, LONGEST_SLEEP)


def done(requests: list[Request]) -> Steps[None]:
    """Wait for all of ``requests``."""
    for request in requests:
        while not request.test():
            yield False


def as_bytes(array: Array) -> Array:
    """A contiguous array as the bytes that it is made of."""
    flat = array.reshape(-1)
    if not flat.flags.c_contiguous:
        raise ValueError("only contiguous arrays travel")
    return flat.view(np.uint8)
