"""A rank that waits too long for others says for whom, and ends the job.

MPI notices a process that has died; it does not notice one that is stopped, hangs in a file
system, or sits behind a cut cable.  Then all others would wait for ever.

Ranks wait for each other in chains, so most of those that are waited for do wait themselves.  The
one to blame is waited for and says nothing: every rank tells the launcher, which finds it.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.failure import STALLED, end_job
from pycaffe_dist.parallel.job.launcher import rank_and_size

logger = logging.getLogger(__name__)
BEGIN_SECONDS = 60.0  # that ranks may be apart while they build their nets, at least
HEAR_OTHERS = 2.5  # seconds for the other ranks to say the same


@dataclass(frozen=True)
class Stall:
    """A wait that took too long: of which rank, for which others by name, for what."""

    rank: int
    awaited: dict[int, str]
    what: str
    seconds: float

    def __str__(self) -> str:
        who = " and ".join(self.awaited.values()) or "nobody in particular"
        return f"waited {self.seconds:.0f} s for {who}, in the exchange of {self.what}"


@dataclass(frozen=True)
class Wait:
    """A wait that is not over: for what, for whom, since when, and how long it may take."""

    what: str
    ranks: Callable[[], Sequence[int]]
    since: float
    patience: float


class Watchdog:
    """Watches the waits of a rank's threads from a thread of its own.

    Each thread has a wait of its own: one that ends in the communication thread says nothing of
    what the main thread has begun to wait for.

    Args:
        timeout: seconds that a wait may take; 0: any time.
        hosts: the host of each rank.
        bark: what is done in the end; ends the whole job if not given.
    """

    def __init__(
        self,
        timeout: float,
        hosts: Sequence[str] = (),
        bark: Callable[[Stall], object] | None = None,
    ) -> None:
        self.timeout, self.hosts = timeout, list(hosts)
        self._bark = bark or _end
        self._lock = threading.Lock()
        self._waits: dict[int, Wait] = {}  # by thread
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def waiting(
        self, what: str, ranks: Sequence[int] | Callable[[], Sequence[int]], least: float = 0.0
    ) -> None:
        """A wait of this thread begins, or has moved on: its time counts from now.

        Args:
            what: parameter or purpose: "fc6 (sfb)".
            ranks: who is missing; as a function if that changes while we wait.
            least: seconds that are granted.
        """
        missing = ranks if callable(ranks) else lambda: ranks
        wait = Wait(what, missing, time.monotonic(), max(self.timeout, least))
        with self._lock:
            self._waits[threading.get_ident()] = wait

    def done(self) -> None:
        """The wait of this thread is over."""
        with self._lock:
            self._waits.pop(threading.get_ident(), None)

    @contextmanager
    def during(
        self, what: str, ranks: Callable[[], Sequence[int]], least: float = BEGIN_SECONDS
    ) -> Iterator[None]:
        """A wait that takes as long as the block, which may compute too: ``least`` is granted."""
        self.waiting(what, ranks, least)
        yield
        self.done()

    def late(self) -> Stall | None:
        """A wait, if one has taken too long."""
        now = time.monotonic()
        with self._lock:
            waits = [wait for wait in self._waits.values() if now - wait.since >= wait.patience]
        if not waits or not self.timeout:
            return None
        names = {rank: self._name(rank) for rank in waits[0].ranks()}
        return Stall(rank_and_size()[0], names, waits[0].what, now - waits[0].since)

    def _name(self, rank: int) -> str:
        host = f" on {self.hosts[rank]}" if rank < len(self.hosts) else ""
        return f"rank {rank}{host}"

    # -- its thread ----------------------------------------------------------------------------

    def __enter__(self) -> Watchdog:
        if self.timeout:
            self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(min(1.0, self.timeout / 4)):
            stall = self.late()
            if stall:
                self._bark(stall)
                return


def _end(stall: Stall) -> None:
    logger.error("%s", stall)
    lifeline.say(lifeline.STALL, json.dumps(asdict(stall)))
    time.sleep(HEAR_OTHERS)
    end_job(STALLED)


def blame(reports: Iterable[str], ranks: int) -> str:
    """Who of all ranks is to blame, from what they have told."""
    stalls = [Stall(**json.loads(report)) for report in reports]
    waiting = {stall.rank for stall in stalls}
    names = {int(rank): name for stall in stalls for rank, name in stall.awaited.items()}
    silent = [names[rank] for rank in sorted(names) if rank not in waiting]
    # Those that wait for one to take what they send expect nothing of anybody.
    silent = silent or [f"rank {rank}" for rank in range(ranks) if rank not in waiting]
    longest = max(stalls, key=lambda stall: stall.seconds)
    who = f"{' and '.join(silent)} did not answer" if silent else "no rank heard of another"
    return (
        f"{who} for {longest.seconds:.0f} s, in the exchange of {longest.what}: stopped, hanging, "
        "or cut off from the network. Ranks that are only slow may need a longer --stall-timeout"
    )
