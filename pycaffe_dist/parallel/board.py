"""The board: a few numbers of each rank, known to all after every iteration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.transport.collectives import all_gather
from pycaffe_dist.parallel.transport.comm_thread import CommThread, Submitted
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import BOARD


class Board:
    """Numbers travel while backward computes, and are there when it is over."""

    def __init__(self, thread: CommThread) -> None:
        self._thread = thread
        self._port = Port(thread.communicator)
        self._numbers = np.zeros((thread.communicator.size, 0))
        self._job: Submitted[None] | None = None
        self._read = True

    def offer(self, values: Sequence[float]) -> None:
        """Put up this rank's numbers; all ranks put up as many, once in an iteration."""
        ranks, count = len(self._numbers), len(values)
        self._numbers = np.zeros((ranks, count))
        self._numbers[self._port.communicator.rank] = values
        slices = range(0, ranks * count + 1, count)
        steps = all_gather(self._port, range(ranks), self._numbers.reshape(-1), slices, BOARD)
        self._job = self._thread.submit(steps, "losses", "control", urgent=True)
        self._read = False

    @property
    def complete(self) -> bool:
        """Whether what all ranks have put up is here."""
        return self._job is not None and self._job.done

    def offered(self) -> Array:
        """What all ranks have put up, a row each."""
        if self._job is not None:
            self._thread.wait(self._job)
        return self._numbers

    def read(self, settling: bool) -> list[tuple[int, Array]]:
        """The board of this iteration, the first time it is asked for; its age is 0."""
        board = [] if self._read else [(0, self.offered())]
        self._read = True
        return board
