"""The ranks of a solver that trains alone."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class OneRank:
    """A solver's ranks when there is one; ``parallel/cluster.py`` puts its own in its place.

    All ranks call these at the same points of the same iterations.
    """

    rank = 0
    size = 1
    share_batches = False  # whether passes of the net have to be made by all ranks together

    def mean(self, values: list[float]) -> list[float]:
        """The means of ``values`` over all ranks."""
        return values

    def gather(self, state: T) -> list[T]:
        """What every rank gives as ``state``, in the order of ranks; of use on rank 0 only."""
        return [state]

    def restored(self, state: T) -> T:
        """Rank 0 has read a snapshot, and ``state`` besides, which all get."""
        return state
