"""One value, several homes.

A value (a blob's data or diff) can live in several homes: plain NumPy memory, a GPU's, a layout
that some kernel library prefers.  One or more homes are current; asking for another converts once
and remembers.  Asking to write makes that home the only current one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, KeysView
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array as Array
from pycaffe_dist.aliases import DType

if TYPE_CHECKING:
    from pycaffe_dist.pool import Pool

Place = tuple[int, tuple[int, ...]]  # the address and the shape of an array


class Home(Protocol):
    """A place where values can live.  Homes are compared by identity."""

    def allocate(self, count: int, dtype: DType) -> Array:
        """Room for ``count`` zeros."""

    def size_of(self, count: int, dtype: DType) -> int:
        """The bytes of such a room; asked only where rooms are NumPy arrays."""

    def numbers(self, dtype: DType) -> DType:
        """The type of the numbers of such a room; asked only where rooms are NumPy arrays."""

    def clear(self, room: Array) -> None:
        """Fill ``room`` with zeros."""

    def load(self, host: Array, room: Array) -> None:
        """Bring a plain array into ``room``."""

    def store(self, room: Array, host: Array) -> None:
        """Bring what is in ``room`` back to a plain array."""

    def fetch(self, source: Home, there: Array, room: Array) -> bool:
        """Bring what is in another home straight into ``room``; False if that way is not known."""


LINE = 64  # bytes of a cache line, which vector instructions like to begin at


def aligned(count: int, dtype: DType) -> Array:
    """Room for ``count`` zeros that begins at a cache line."""
    bytes_ = np.zeros(count * dtype.itemsize + LINE, np.uint8)
    start = -bytes_.__array_interface__["data"][0] % LINE
    return bytes_[start : start + count * dtype.itemsize].view(dtype)


def place(values: Array) -> Place:
    """Where an array is: the same for all views of it that have its shape."""
    return values.ctypes.data, values.shape


class Host:
    """Plain NumPy memory, through which all other homes are reached."""

    def allocate(self, count: int, dtype: DType) -> Array:
        return aligned(count, dtype)

    def size_of(self, count: int, dtype: DType) -> int:
        return count * dtype.itemsize

    def numbers(self, dtype: DType) -> DType:
        return dtype

    def clear(self, room: Array) -> None:
        room[...] = 0

    def load(self, host: Array, room: Array) -> None:
        room[...] = host

    def store(self, room: Array, host: Array) -> None:
        host[...] = room

    def fetch(self, source: Home, there: Array, room: Array) -> bool:
        source.store(there, room)
        return True

    def __repr__(self) -> str:
        return "HOST"


HOST = Host()


class Promise(Host):
    """The home of values that are not computed yet: nothing is ever read from it.

    Args:
        keep: writes all values that were promised with it.
    """

    def __init__(self, keep: Callable[[], object]) -> None:
        self.keep = keep


class State(NamedTuple):
    """Where a value lies, by home, and which of these are up to date."""

    rooms: dict[Home, Array]
    current: tuple[Home, ...]


class Value:
    """``count`` numbers and where they are.  Nothing is allocated before somebody asks.

    Attributes:
        version: grows whenever somebody asks to write.
        pool: where its rooms come from and go to, if it is used in turn with others.
    """

    __slots__ = ("_current", "_rooms", "_shaped", "count", "dtype", "pool", "version")

    def __init__(self, count: int, dtype: DTypeLike) -> None:
        self.count = count
        self.dtype = np.dtype(dtype)
        self._rooms: dict[Home, Array] = {}
        self._shaped: dict[Home, Array] = {}
        self._current: dict[Home, None] = {}  # that which was written comes first
        self.version = 0
        self.pool: Pool | None = None

    @property
    def is_zero(self) -> bool:
        """Whether it is all zeros because nobody wrote to it, or since ``zero``."""
        return not self._current

    @property
    def current(self) -> KeysView[Home]:
        """The homes that hold what was written last, where it was written first; none for zeros."""
        return self._current.keys()

    def lives_in(self, home: Home) -> bool:
        """Whether it has been there since its shape was chosen, current or not."""
        return home in self._rooms

    def read(self, home: Home = HOST) -> Array:
        """The value in ``home``, not to be written to."""
        if home not in self._current:
            self._bring(home)
        return self._rooms[home]

    def write(self, home: Home = HOST) -> Array:
        """The value in ``home``, to be changed: all other homes become out of date."""
        room = self.read(home)
        if len(self._current) > 1:
            self._current = {home: None}
        self.version += 1
        return room

    def replace(self, home: Home = HOST) -> Array:
        """Room in ``home`` for a value to be written whole; what was there is not brought over."""
        if home not in self._rooms:
            self._rooms[home] = self._allocate(home)
        self._current = {home: None}
        self.version += 1
        return self._rooms[home]

    def exchange(self, home: Home, room: Array) -> Array:
        """Let ``room`` be that in ``home``, to be written whole; the old one, with its values."""
        old = self.read(home)
        self._rooms[home] = room
        self._shaped.pop(home, None)
        self._current = {home: None}
        self.version += 1
        return old

    def hand_over(self, home: Home, heir: Value) -> Array:
        """Let another value have the room in ``home`` with what is in it, and be all zeros."""
        room = self.read(home)
        del self._rooms[home]
        self.give_back()
        heir.give_back()
        heir._rooms, heir._current = {home: room}, {home: None}
        heir.version += 1
        return room

    def state(self) -> State:
        return State(dict(self._rooms), tuple(self._current))

    def is_in(self, state: State) -> bool:
        """Whether it lies where it did then."""
        rooms = self._rooms
        return (
            tuple(self._current) == state.current
            and len(rooms) == len(state.rooms)
            and all(rooms.get(home) is room for home, room in state.rooms.items())
        )

    def put(self, state: State) -> None:
        """Lie there from now on; somebody has written what is to be there."""
        self._rooms, self._current = dict(state.rooms), dict.fromkeys(state.current)
        self._shaped.clear()

    def promise(self, promise: Promise) -> None:
        """Let it be computed when somebody reads it before it is written again."""
        self._current = {promise: None}
        self.version += 1

    def zero(self) -> None:
        """Make it all zeros; memory is touched only if somebody reads it before replacing it."""
        self._current.clear()
        self.version += 1

    def give_back(self) -> None:
        """Be all zeros, and let others use the memory."""
        self.zero()
        if self.pool is not None:
            for room in self._rooms.values():
                self.pool.give(room)
            self._rooms.clear()
            self._shaped.clear()

    def shaped(self, home: Home, shape: tuple[int, ...]) -> Array:
        """The room in a plain home as an array of ``shape``, which may be smaller."""
        known = self._shaped.get(home)
        if known is None or known.shape != shape:
            known = self._rooms[home][: math.prod(shape)].reshape(shape)
            self._shaped[home] = known
        return known

    def leave(self, home: Home) -> None:
        """Give up the room in ``home``; a value that is nowhere else goes, or stays, HOST."""
        if self._current.keys() == {home}:
            if home is HOST:
                return
            self._bring(HOST)
        self._current.pop(home, None)
        self._rooms.pop(home, None)
        self._shaped.pop(home, None)

    def _bring(self, home: Home) -> None:
        first = next(iter(self._current), None)
        if isinstance(first, Promise):
            first.keep()
            self._current.pop(first, None)
            if home in self._current:
                return
        known = home in self._rooms
        if not known:
            self._rooms[home] = self._allocate(home)
        if self._current:
            self._convert(home)
        elif known or self.pool is not None:
            home.clear(self._rooms[home])
        self._current[home] = None

    def _allocate(self, home: Home) -> Array:
        if self.pool is None:
            return home.allocate(self.count, self.dtype)
        return self.pool.room(home, self.count, self.dtype)

    def _convert(self, home: Home) -> None:
        room = self._rooms[home]
        if HOST in self._current:
            home.load(self._rooms[HOST], room)
            return
        source = next(iter(self._current))
        if not home.fetch(source, self._rooms[source], room):
            home.load(self.read(HOST), room)
