"""The clocks of stale training: how many iterations of every rank are in what has come from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array


class Clocks:
    """A clock for every rank and item, as one of the ranks sees them.

    Iteration c of a rank, counted from 0, may begin to use items when ``missing(items, c - s)`` is
    nobody: then it is at most s iterations ahead of what it has seen of the slowest.
    """

    def __init__(self, rank: int, ranks: int, items: int) -> None:
        self._others = [r for r in range(ranks) if r != rank]
        self._table = np.zeros((ranks, items), np.int64)

    def advance(self, item: int, clocks: Array) -> None:
        """Something has come with these clocks, by rank."""
        column = self._table[:, item]
        np.maximum(column, clocks, out=column)

    def missing(self, items: Sequence[int], least: int) -> list[int]:
        """The other ranks of which less than ``least`` iterations of these items have come."""
        there = self._table[:, items].min(axis=1)
        return [r for r in self._others if there[r] < least]

    def slowest(self, items: Sequence[int]) -> int:
        """How many iterations of these items have come from every other rank."""
        return int(self._table[np.ix_(self._others, items)].min())

    def ahead(self, items: Sequence[int], done: int) -> int:
        """How many of a rank's ``done`` iterations the slowest of the others is behind."""
        return done - self.slowest(items) if self._others and items else 0
