"""What a layer in place found in its bottom, kept for its backward pass."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.engines.onednn.primitives import Layout
from pycaffe_dist.memory import HOST, Array, Value


class Kept:
    """A second room: the blob's own becomes the kept one and this one the blob's, without a copy.

    Only plain rooms are copied: a user may hold them.
    """

    def __init__(self) -> None:
        self.room: Array | None = None
        self._layout: Layout | None = None

    def swap(self, value: Value, layout: Layout) -> tuple[Array, Array]:
        """(what is in the value, room for what will be) in a layout."""
        spare = self.room_in(layout)
        if layout.home is HOST:
            room: Array = value.write(HOST)
            np.copyto(spare, room[: spare.size])
            return spare, room
        self.room = value.exchange(layout, spare)
        return self.room, spare

    def room_in(self, layout: Layout) -> Array:
        """The second room, for a value in this layout."""
        if self.room is None or self._layout is not layout:
            self.room = layout.allocate(layout.count, np.dtype(np.float32))
            self._layout = layout
        return self.room
