"""The home of values on a GPU.

Two streams: one computes, one copies.  What comes from the host goes through pinned memory, so that
the host continues while it is copied, and lands beside its room, so that the copy need not wait for
the kernels that still read the room; the compute stream moves it in when it gets there.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule, DeviceArray, DType
from pycaffe_dist.memory import Home
from pycaffe_dist.pool import Pool

PIECE = 64 << 20  # bytes that are copied at a time
BITS = np.dtype(np.uint16)
MOST_ON_THE_WAY = 512 << 20  # bytes of pinned memory in use: then the host waits for the oldest


@dataclass
class Crossing:
    """A copy under way: what must stay until the room has it."""

    arrived: Any  # event
    nbytes: int
    pinned: DeviceArray
    landing: DeviceArray


class DeviceHome:
    """Flat arrays of ``xp`` on one device.

    Attributes:
        compute: the stream of all kernels; current in the thread that made the engine.
        copy: the stream of copies from the host.
        addresses_given: whether somebody else may write to values without a word.

    Args:
        enter: makes the compute stream that of this thread.
        before_reading: called before the host gets a value; where late errors are told.
    """

    def __init__(
        self, xp: ArrayModule, enter: Callable[[], object], before_reading: Callable[[], object]
    ) -> None:
        self.xp, self.enter, self.before_reading = xp, enter, before_reading
        self.addresses_given = False
        self.compute = xp.cuda.Stream(non_blocking=True)
        self.copy = xp.cuda.Stream(non_blocking=True)
        self._crossings: deque[Crossing] = deque()
        self._lock = threading.Lock()  # of what is under way: a thread that communicates copies too

    def allocate(self, count: int, dtype: DType) -> Any:
        self.enter()
        return self.xp.zeros(count, dtype)

    def empty(self, count: int, dtype: DType) -> Any:
        """Room for ``count`` numbers, with anything in it."""
        self.enter()
        return self.xp.empty(count, dtype)

    def size_of(self, count: int, dtype: DType) -> int:
        return count * dtype.itemsize

    def numbers(self, dtype: DType) -> DType:
        return dtype

    def clear(self, room: DeviceArray) -> None:
        self.enter()
        room.fill(0)

    def load(self, host: Array, room: DeviceArray) -> None:
        self.enter()
        with self._lock:
            for part in _parts(host):
                self._cross(host[part], room if part.stop is None else room[part])

    def _cross(self, host: Array, room: DeviceArray) -> None:
        self._let_go(host.nbytes)
        pinned = self._pinned(host.size, host.dtype)
        pinned[...] = host
        with self.copy:
            landing = self.xp.empty(host.size, host.dtype)
            landing.set(pinned, stream=self.copy)
            landed = self.copy.record()
        self.compute.wait_event(landed)
        room[...] = landing
        self._crossings.append(Crossing(self.compute.record(), host.nbytes, pinned, landing))

    def _let_go(self, needed: int) -> None:
        """Give back the memory of copies that are done."""
        while self._crossings and self._crossings[0].arrived.done:
            self._crossings.popleft()
        while sum(c.nbytes for c in self._crossings) + needed > MOST_ON_THE_WAY and self._crossings:
            self._crossings.popleft().arrived.synchronize()

    def store(self, room: DeviceArray, host: Array) -> None:
        self.enter()
        self.before_reading()
        for part in _parts(host):
            pinned = self._pinned(host[part].size, host.dtype)
            room[part].get(stream=self.compute, out=pinned)
            host[part] = pinned

    def fetch(self, source: Home, there: DeviceArray, room: DeviceArray) -> bool:
        return False

    def _pinned(self, count: int, dtype: DType) -> Array:
        memory = self.xp.cuda.alloc_pinned_memory(count * dtype.itemsize)
        return np.frombuffer(memory, dtype, count)

    def __repr__(self) -> str:
        return "DEVICE"


def _parts(host: Array) -> Iterator[slice]:
    """What is copied at a time: all of it, if it is not too much."""
    if 0 < host.nbytes <= PIECE:
        yield slice(None)
        return
    step = PIECE // host.itemsize
    for begin in range(0, len(host), step):
        yield slice(begin, begin + step)


class Halves:
    """The home of what tensor cores multiply: copies of a device's values, rounded to 16 bits.

    Args:
        device: where the values themselves are.
        round: fills an array of 16 bits.
    """

    def __init__(
        self, device: DeviceHome, round: Callable[[DeviceArray, DeviceArray], object]
    ) -> None:
        self.device, self.round = device, round

    def allocate(self, count: int, dtype: DType) -> Any:
        return self.device.allocate(count, BITS)

    def empty(self, count: int, dtype: DType) -> Any:
        return self.device.empty(count, BITS)

    def size_of(self, count: int, dtype: DType) -> int:
        return count * BITS.itemsize

    def numbers(self, dtype: DType) -> DType:
        return BITS

    def clear(self, room: DeviceArray) -> None:
        self.device.clear(room)

    def load(self, host: Array, room: DeviceArray) -> None:
        there = self.device.empty(host.size, host.dtype)
        self.device.load(host, there)
        self.round(there, room)

    def store(self, room: DeviceArray, host: Array) -> None:
        raise AssertionError("16 bits are copies of a value, and it is nowhere else")

    def fetch(self, source: Home, there: DeviceArray, room: DeviceArray) -> bool:
        if source is not self.device:
            return False
        self.round(there, room)
        return True

    def __repr__(self) -> str:
        return "HALVES"


class DevicePool(Pool):
    """Rooms on a device that are used in turn: CuPy's pool keeps what is given back."""

    def __init__(self, home: DeviceHome) -> None:
        super().__init__()
        self.home = home

    def room(self, home: Home, count: int, dtype: DType) -> Any:
        make = home.empty if isinstance(home, (DeviceHome, Halves)) else home.allocate
        return make(count, dtype)

    def give(self, room: DeviceArray) -> None:
        """Nothing to do: who gives a room back lets go of it."""
