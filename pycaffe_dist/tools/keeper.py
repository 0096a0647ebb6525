"""Which snapshots of a run stay: the last ones, and the one with the best test score."""

from __future__ import annotations

import logging
import math
import os
from contextlib import suppress
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import NetError
from pycaffe_dist.events import Event, Restored, Snapshotted, SolveEnds, Tested
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots

NOTE = "best"  # of the solver: {"metric", "score", "iteration", "weights"}

logger = logging.getLogger(__name__)


class Keeper:
    """Subscriber that makes a snapshot at each best test score and deletes what is not to be kept.

    A score called loss is best when it is lowest, any other when it is highest.  The best so far is
    a note of the solver, which every snapshot holds: a resumed run knows it.  Of several ranks
    all have a keeper, because all take part in a snapshot; rank 0 deletes and links.

    Args:
        solver: whose snapshots.
        last: how many to keep; 0: all.
        metric: the output of the test net that is the score; "": there is none.
        link: a symbolic link to the best weights, without its ending.
    """

    def __init__(self, solver: Solver, last: int, metric: str, link: str) -> None:
        self.solver, self.last, self.metric, self.link = solver, last, metric, link

    @property
    def best(self) -> Facts | None:
        """The best so far by the metric of this run."""
        note: Facts | None = self.solver.notes.get(NOTE)
        return note if note and note["metric"] == self.metric else None

    def __call__(self, event: Event) -> None:
        first = self.solver.ranks.rank == 0
        if isinstance(event, Tested) and self.metric:
            self._score(event)
        elif isinstance(event, Snapshotted) and self.last and first:
            self._prune()
        elif isinstance(event, Restored | SolveEnds):
            self._name()

    def _score(self, event: Tested) -> None:
        values = [o.value for o in event.outputs if o.name == self.metric]
        if not values:
            names = ", ".join(dict.fromkeys(o.name for o in event.outputs))
            raise NetError(f"--keep-best {self.metric}: the test net puts out {names}")
        if not self._is_best(values[0]):
            return
        # Before the first iteration there is nothing to keep.
        weights = snapshots.paths(self.solver.snapshot_stem(), self.solver.param)[0]
        self.solver.notes[NOTE] = {
            "metric": self.metric,
            "score": values[0],
            "iteration": event.iteration,
            "weights": weights if event.iteration else "",
        }
        if event.iteration:
            self.solver.snapshot()
            if self.solver.writer:
                self.solver.writer.wait()  # what is linked is there
            self._name()
            self._link(weights)

    def _is_best(self, score: float) -> bool:
        if math.isnan(score):
            return False
        if self.best is None:
            return True
        before: float = self.best["score"]
        return score < before if "loss" in self.metric else score > before

    def _name(self) -> None:
        if self.best and self.best["weights"]:
            best = "{metric} = {score:g} at iteration {iteration}, {weights}"
            logger.info("Best so far: %s", best.format(**self.best))

    def _link(self, weights: str) -> None:
        if self.solver.ranks.rank == 0:
            link = self.link + weights[weights.rindex(".caffemodel") :]
            new = f"{link}.{os.getpid()}.tmp"
            with suppress(OSError):  # a file system without links; the log names the best too
                os.symlink(os.path.basename(weights), new)
                os.replace(new, link)

    def _prune(self) -> None:
        there = snapshots.find(self.solver.param.snapshot_prefix)
        # Whatever metric it was the best by: only its own run may find out that it is not any more.
        best = Path(self.solver.notes.get(NOTE, {}).get("weights", "")).name
        for old in there[: -self.last]:
            if Path(old.weights).name != best:
                snapshots.remove(old)
