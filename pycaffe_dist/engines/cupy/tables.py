"""Tables: where many arrays are, so that one launch works on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import ArrayModule, DeviceArray

CHUNK = 4096  # values that a block works on
MOST_TABLES = 64  # that are kept: a net has one of each kind of work


@dataclass(frozen=True)
class Table:
    """Some arrays on the device, and how blocks share their values.

    Attributes:
        rows: how many chunks there are.
        chunks: (rows, 3): array, first value, end.
        addresses: of each of the arrays; a column for each that belongs to a parameter.
    """

    rows: int
    chunks: DeviceArray
    addresses: list[DeviceArray]


class Tables:
    """The tables of one device, made once: arrays of parameters stay where they are."""

    def __init__(self, xp: ArrayModule) -> None:
        self.xp = xp
        self._known: dict[tuple[int, ...], Table] = {}

    def of(self, *columns: Sequence[DeviceArray]) -> Table:
        """A table of arrays: columns of as many each, and of the same sizes."""
        pointers = [[array.data.ptr for array in column] for column in columns]
        sizes = [array.size for array in columns[0]]
        key = (*sizes, *(pointer for column in pointers for pointer in column))
        if key not in self._known:
            if len(self._known) >= MOST_TABLES:
                self._known.clear()
            chunks = [
                (i, begin, min(begin + CHUNK, size))
                for i, size in enumerate(sizes)
                for begin in range(0, size, CHUNK)
            ]
            addresses = [self.xp.asarray(np.array(column, np.uint64)) for column in pointers]
            table = np.array(chunks, np.int32).reshape(-1)
            self._known[key] = Table(len(chunks), self.xp.asarray(table), addresses)
        return self._known[key]
