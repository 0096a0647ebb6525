"""P ranks take steps: each computes in its own time, and exchanges wait for the last of them.

With all ranks equally fast a step takes ``plan.step.step_seconds``; a test compares the two.
Vectors have an element for each rank.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.plan.step import Schedule

# (kind, name, begin, end): kind as in a trace; begin and end of every rank.
Note = Callable[[str, str, Array, Array], None]


def _quiet(kind: str, name: str, begin: Array, end: Array) -> None:
    pass


def steps(
    schedule: Schedule,
    paces: Array,
    note: Note = _quiet,
    names: Sequence[str] = (),
) -> Array:
    """Seconds of each step, from the slowest rank's end of one to its end of the next.

    Args:
        schedule: what every rank does in a step.
        paces: (steps, ranks): by how much longer than the schedule says each takes to compute.
        note: is told of every span, for a timeline.
        names: of the layers, for it.
    """
    if schedule.staleness:
        return _stale_steps(schedule, paces)
    now = np.zeros(paces.shape[1])
    ends = []
    walk = _overlapped if schedule.overlap else _one_after_another
    for pace in paces:
        now = walk(schedule, pace, now, note, names)
        ends.append(now.max())
    return np.diff(ends, prepend=0.0)


def _one_after_another(
    schedule: Schedule, pace: Array, now: Array, note: Note, names: Sequence[str]
) -> Array:
    """All passes, then all exchanges, then all updates."""
    begin, now = now, now + schedule.compute * pace
    note("compute", "forward and backward", begin, now)
    for transfer in schedule.transfers:
        all_here = np.full_like(now, now.max())
        begin, now = now, all_here + transfer.link
        note("wait", transfer.name, begin, now)
        note("exchange", f"{transfer.name} ({transfer.scheme})", all_here, now)
    note("compute", "update", now, now + schedule.work)
    return now + schedule.work


class _Arrivals:
    """Exchanges in the order in which they leave the link, and how many each rank has finished."""

    def __init__(self, schedule: Schedule, ranks: int) -> None:
        self.transfers = schedule.transfers
        self.work = np.array([t.work for t in self.transfers] or [0.0])
        self.done = np.full(len(self.work), np.inf)  # when each has left the link
        self.taken: deque[tuple[float, float, float]] = deque()  # begin, end, share of processors
        self.begun = 0
        self.finished = np.zeros(ranks, np.int64)  # by each rank

    def begin(self, layer: int, now: Array, note: Note) -> None:
        """Exchanges of a layer take the link, one after another, as all ranks have got there."""
        free = self.done[self.begun - 1] if self.begun else 0.0
        while self.begun < len(self.transfers) and self.transfers[self.begun].layer >= layer:
            transfer = self.transfers[self.begun]
            start = max(free, float(now.max()))
            free = start + transfer.link
            self.done[self.begun] = free
            self.begun += 1
            if transfer.taken:
                self.taken.append((start, free, transfer.taken))
            name = f"{transfer.name} ({transfer.scheme})"
            note("exchange", name, np.full_like(now, start), np.full_like(now, free))

    def compute(self, now: Array, seconds: Array) -> Array:
        """When so many seconds of computing are over, beside the exchanges on the link."""
        while self.taken and self.taken[0][1] <= now.min():
            self.taken.popleft()
        for begin, end, share in self.taken:
            before = np.clip(begin - now, 0.0, seconds)
            now, seconds = now + before, seconds - before
            beside = (begin <= now) & (now < end)
            room = np.where(beside, (end - now) * (1 - share), 0.0)
            through = beside & (seconds >= room)
            slowed = now + np.where(beside, seconds / (1 - share), 0.0)
            now = np.where(through, end, slowed)
            seconds = np.where(through, seconds - room, np.where(beside, 0.0, seconds))
            if not seconds.any():
                break
        return now + seconds

    def finish_arrived(self, now: Array) -> Array:
        """Ranks do the work of what has arrived by now."""
        while (self.finished < self.begun).any():
            next_one = np.minimum(self.finished, self.begun - 1)
            ready = (self.finished < self.begun) & (self.done[next_one] <= now)
            if not ready.any():
                break
            now = self.compute(now, np.where(ready, self.work[next_one], 0.0))
            self.finished += ready
        return now

    def finish_all(self, now: Array, note: Note) -> Array:
        """Ranks wait for every exchange that has begun, and do its work."""
        for i in range(self.begun):
            open_ = self.finished <= i
            waited = np.where(open_, np.maximum(now, self.done[i]), now)
            note("wait", self.transfers[i].name, now, waited)
            now = self.compute(waited, np.where(open_, self.work[i], 0.0))
        self.finished[:] = self.begun
        return now


def _overlapped(
    schedule: Schedule, pace: Array, now: Array, note: Note, names: Sequence[str]
) -> Array:
    """Backward with exchanges beside it, then the forward that waits for them: DWBP."""
    times, arrivals = schedule.times, _Arrivals(schedule, len(pace))
    named = names or [""] * len(times.forward)
    before = (schedule.passes - 1) * times.total
    if before:
        note("compute", "first passes", now, now + before * pace)
        now = now + before * pace
    for i in reversed(range(len(times.backward))):
        begin, now = now, arrivals.compute(now, times.backward[i] * pace)
        note("compute", f"{named[i]} backward", begin, now)
        arrivals.begin(i, now, note)
        now = arrivals.finish_arrived(now)
    if schedule.barrier and arrivals.begun:
        now = arrivals.finish_arrived(np.maximum(now, arrivals.done[arrivals.begun - 1]))
    # Exchanges come back in their order, and the lowest layer's is the last.
    lowest = min((t.layer for t in schedule.transfers), default=-1)
    for i, seconds in enumerate(times.forward):
        if i == lowest:
            now = arrivals.finish_all(now, note)
        elif i < lowest:
            now = arrivals.finish_arrived(now)
        begin, now = now, arrivals.compute(now, seconds * pace)
        note("compute", f"{named[i]} forward", begin, now)
    return now


def _stale_steps(schedule: Schedule, paces: Array) -> Array:
    """Stale synchronous steps: a rank waits only for those more than s steps behind.

    Updates of a step leave when it ends and take the rank's link in turn; a rank begins step t
    when those of step t - 1 - s have come from everybody.
    """
    count, ranks = paces.shape
    now, link_free = np.zeros(ranks), np.zeros(ranks)
    arrived: list[float] = []  # when the updates of each step have come from all ranks
    ends = []
    for t in range(count):
        known = t - 1 - schedule.staleness
        if known >= 0:
            now = np.maximum(now, arrived[known])
        now = now + schedule.compute * paces[t] + schedule.work + schedule.handling
        link_free = np.maximum(link_free, now) + schedule.link
        arrived.append(float(link_free.max()))
        ends.append(now.mean())
    return np.diff(ends, prepend=0.0)


def draw_paces(count: int, ranks: int, spread: float, slow: float = 1.0, seed: int = 1) -> Array:
    """How much longer than usual each rank takes to compute in each step.

    A step's pace is log-normal with a relative deviation of ``spread`` and a mean of 1; the first
    rank is ``slow`` times slower than the others.
    """
    rng = np.random.default_rng(seed)
    paces = np.exp(spread * rng.standard_normal((count, ranks)) - spread**2 / 2)
    paces[:, 0] *= slow
    return paces
