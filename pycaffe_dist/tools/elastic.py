"""``pcd launch --elastic MIN:MAX``: who takes part in the next attempt of a run.

A run is that of MAX ranks, whoever is left: with ``--elastic-batch keep`` fewer ranks divide the
same joint batch, with ``scale`` each keeps its own, and the learning rate goes with their number.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Collection
from dataclasses import dataclass

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.job.reach import Probe
from pycaffe_dist.parallel.job.supervisor import Job
from pycaffe_dist.tools.place import Place

KEEP, SCALE = "keep", "scale"
BATCHES = (KEEP, SCALE)
ASK_SECONDS = 5.0  # in which hosts answer that are not cut off
ANSWER_SECONDS = 30.0  # in which a host answers, or is still away

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Elastic:
    """How many ranks a run may have, and what becomes of its batch when it has fewer than most."""

    least: int
    most: int
    batch: str = KEEP
    join_after: float = 20.0  # seconds, after which those who are missing are tried again

    @staticmethod
    def parse(text: str, batch: str, join_after: float) -> Elastic:
        match = re.fullmatch(r"(\d+):(\d+)", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise NetError(f"--elastic {text}: write the least and the most ranks, such as 2:4")
        return Elastic(int(match[1]), int(match[2]), batch, join_after)

    def flags(self) -> list[str]:
        """Of each rank's ``pcd train``."""
        return ["--as-ranks", str(self.most), "--elastic-batch", self.batch]


class Team:
    """The ranks of the next attempt: all, where nobody says that fewer may do.

    A host that does not answer is left out until it does.  A rank that was lost on a host that
    answers is started again with the others; when attempts in a row fail without getting further,
    each one from the second on leaves out one rank more.

    Args:
        place: of all ranks.
        elastic: whether there may be fewer.
        fits: the numbers of ranks that can divide the batch; None: any can.
    """

    def __init__(
        self, place: Place, elastic: Elastic | None = None, fits: Collection[int] | None = None
    ) -> None:
        self._all, self.elastic, self._fits = place, elastic, fits
        self.place = place
        self._absent: set[str] = set()  # hosts that did not answer
        self._in_vain = 0  # attempts in a row that got no further
        self._since = 0.0  # when the last one failed
        self._kept = 0  # the newest iteration that is kept in memory
        self._ways: dict[str, list[str]] = {}  # how mpirun got to hosts
        self._probe: Probe | None = None

    @property
    def complete(self) -> bool:
        return self.place == self._all

    def progressed(self, job: Job) -> bool:
        """Whether an attempt has got further than those before, by a snapshot in memory."""
        return job.kept is not None and job.kept > self._kept

    def after_failure(self, job: Job) -> None:
        """Choose who takes part, after an attempt that failed."""
        progressed = self.progressed(job)
        self._kept = max(self._kept, job.kept or 0)
        if self.elastic is None:
            return
        lost = {*job.away, *job.words.lost, *self._cut_off(job)}
        self._absent |= lost
        self._in_vain = 0 if lost or progressed else self._in_vain + 1
        self._since = time.monotonic()
        self._choose()

    def _cut_off(self, job: Job) -> set[str]:
        """The hosts that do not answer, after ranks have waited in vain."""
        if not job.stalls or not self._ways:
            return set()
        probe, end = job.probe(self._ways), time.monotonic() + ASK_SECONDS
        while probe.silent() and time.monotonic() < end:
            time.sleep(0.05)
        silent = set(probe.silent())
        probe.end()
        return silent

    # -- who joins ---------------------------------------------------------------------------

    def wants_to_join(self, job: Job) -> bool:
        """Whether it is time to end an attempt of fewer ranks, for one of more."""
        if self.elastic is None:
            return False
        if job.hosts and not job.started:
            self._ways |= job.ways()
        if self.complete or not self.progressed(job):
            return False
        if self._absent:
            back = self._back(job)
            self._absent -= back
            return bool(back)
        return time.monotonic() - self._since >= self.elastic.join_after

    def _back(self, job: Job) -> set[str]:
        """Of the hosts that did not answer, those that do now."""
        now = time.monotonic()
        if self._probe is None:
            if now - self._since >= self.elastic.join_after:  # type: ignore[union-attr]
                ways = {host: self._ways.get(host, ["ssh", "-x", host]) for host in self._absent}
                self._probe = job.probe(ways)
                self._since = now
            return set()
        back = self._absent - set(self._probe.silent())
        if back or now - self._since >= ANSWER_SECONDS:
            self._probe.end()
            self._probe = None
        return back

    def join(self, job: Job) -> None:
        """Choose who takes part, after an attempt that was ended for more ranks."""
        self._kept, self._in_vain = max(self._kept, job.kept or 0), 0
        self._choose()

    def _choose(self) -> None:
        assert self.elastic is not None
        there = self._all.on(self._all.ranks, self._absent).ranks - max(0, self._in_vain - 1)
        numbers = range(self.elastic.least, there + 1)
        possible = [n for n in numbers if self._fits is None or n in self._fits]
        if not possible:  # all are tried: those who are missing may be coming back
            self._absent, self._in_vain, self.place = set(), 0, self._all
            return
        self.place = self._all.on(possible[-1], self._absent)
        if not self.complete:
            text = "Continuing with %d of %d ranks, until others can join"
            logger.warning(text, self.place.ranks, self._all.ranks)
