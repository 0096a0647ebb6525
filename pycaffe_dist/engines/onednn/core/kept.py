"""What a layer in place found in its bottom, kept for its backward pass."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.primitives import Layout
from pycaffe_dist.memory import HOST, Home, Value
from pycaffe_dist.pool import Pool


class Kept:
    """A second room: the blob's own becomes the kept one and this one the blob's, without a copy.

    Only plain rooms are copied: a user may hold them.
    """

    def __init__(self) -> None:
        self.room: Array | None = None
        self._layout: Layout | None = None
        self._pool: Pool | None = None

    def swap(self, value: Value, layout: Layout) -> tuple[Array, Array]:
        """(what is in the value, room for what will be) in a layout."""
        spare = self.room_for(value, layout)
        if layout.home is HOST:
            room: Array = value.write(HOST)
            np.copyto(spare, room[: spare.size])
            return spare, room
        self.room = value.exchange(layout, spare)
        return self.room, spare

    def room_for(self, value: Value, layout: Layout) -> Array:
        """The second room, for what such a value has in this layout."""
        if self.room is None or self._layout is not layout:
            self._layout, self._pool = layout, value.pool
            if self._pool is None:
                self.room = layout.allocate(layout.count, layout.dtype)
            else:
                self.room = self._pool.take(layout.size, layout.dtype)
        return self.room

    def found(self, value: Value, home: Home) -> Array:
        """What was in a value before the forward pass: kept, or there still."""
        room: Array = value.read(home) if self.room is None else self.room
        return room

    def give_back(self) -> None:
        """After a backward pass: where memory is used in turn, the room is free for others."""
        if self.room is not None and self._pool is not None:
            self._pool.give(self.room)
            self.room = None
