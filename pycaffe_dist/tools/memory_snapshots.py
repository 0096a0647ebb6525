"""Snapshots in memory, from which a launcher's next attempt begins."""

from __future__ import annotations

import os
from pathlib import Path

from pycaffe_dist.events import Event, Snapshotting, Updated
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.memory import STEM
from pycaffe_dist.proto.weights import read_state
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.solvers.writer import Writer

KEEP = 2  # the newest, and the one before it while that is written


class MemorySnapshots:
    """Subscriber on every rank: rank 0 writes a snapshot to the launcher's folder now and then.

    It holds what one on disk does, so that resuming from it is as exact, and training continues
    while it is written.  Also a context manager, which waits for the last one.
    """

    def __init__(self, solver: Solver, folder: str, every: int) -> None:
        self.solver, self.every = solver, every
        self._prefix = str(Path(folder) / STEM)
        self._writer = Writer()
        if solver.ranks.rank == 0:
            Path(folder).mkdir(mode=0o700, exist_ok=True)  # on another host it is not there yet

    @staticmethod
    def asked_for(solver: Solver) -> MemorySnapshots | None:
        """What a launcher wants, if it does."""
        folder = os.environ.get(lifeline.MEMORY_FOLDER)
        every = int(os.environ.get(lifeline.MEMORY_EVERY, 0))
        return MemorySnapshots(solver, folder, every) if folder and every else None

    def __call__(self, event: Event) -> None:
        self._writer(event)
        if isinstance(event, Updated) and event.iteration % self.every == 0:
            self.solver.settle()
            self._take(event.iteration)

    def _take(self, iteration: int) -> None:
        stem = f"{self._prefix}_iter_{iteration}"
        with snapshots.captured(self.solver) as capture:
            if capture is None:
                return
            self.solver.tell(Snapshotting(iteration, "memory", "", stem))
            self._writer.hand_over(capture, stem, lambda: self._kept(iteration))

    def _kept(self, iteration: int) -> None:
        lifeline.say(lifeline.KEPT, iteration)
        for old in snapshots.find(self._prefix)[:-KEEP]:
            snapshots.remove(old)

    def __enter__(self) -> MemorySnapshots:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.__exit__()


def newer_in_memory(state: str | None) -> str | None:
    """The newest whole snapshot in the launcher's memory, if it is newer than ``state``."""
    folder = os.environ.get(lifeline.MEMORY_FOLDER)
    if not folder or not os.path.isdir(folder):
        return state
    found = snapshots.newest_whole(os.path.join(folder, STEM))
    if found is None or (state is not None and read_state(state).iter >= found.iteration):
        return state
    return found.state
