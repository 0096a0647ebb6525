"""The board where staleness is allowed: rows of all ranks, which all read at the same points.

Board c has a row of every rank, written in its c-th iteration.  It is due s + 1 iterations later,
when it has left every rank, or sooner, when all ranks settle.  A board that is due is waited for
until all its rows are there, and before it is due nobody looks at it: so all ranks read the same
rows at the same points of their training, however far they are apart, and decide the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array


class StaleBoard:
    """The boards of a run, as one of its ranks sees them.  It neither waits nor sends.

    Attributes:
        written: of how many iterations this rank has written its row.
        read: how many boards it has read.
    """

    def __init__(self, rank: int, ranks: int, staleness: int) -> None:
        self.rank, self.ranks, self.staleness = rank, ranks, staleness
        self.written = self.read = 0
        self._rows: dict[int, dict[int, Array]] = {}  # by clock and rank

    def write(self, values: Sequence[float]) -> Array:
        """Put up this rank's row of the next iteration; what the others are to be told."""
        row = np.array(values, np.float64)
        self.note(self.rank, self.written, row)
        self.written += 1
        return row

    def note(self, rank: int, clock: int, row: Array) -> None:
        """The row of a rank has come."""
        self._rows.setdefault(clock, {})[rank] = row

    def due(self, settling: bool) -> range:
        """The clocks of the boards to be read now; all of them, if all ranks settle here."""
        return range(self.read, self.written if settling else self.written - self.staleness - 1)

    def missing(self, clocks: range) -> list[int]:
        """The ranks whose rows of these boards are not there yet."""
        return [r for r in range(self.ranks) if any(r not in self._rows.get(c, {}) for c in clocks)]

    def take(self, clocks: range) -> list[tuple[int, Array]]:
        """Read boards that are due and complete: how many iterations old, and a row of each rank.

        The iteration of this rank's last row has the age 0.
        """
        taken = []
        for clock in clocks:
            rows = self._rows.pop(clock)
            taken.append((self.written - 1 - clock, np.stack([rows[r] for r in range(self.ranks)])))
            self.read = clock + 1
        return taken
