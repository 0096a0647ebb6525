"""Which of several ways to compute the same thing is fastest, so that noise cannot decide.

The ways run in turns; of each only its fastest runs count, because whatever else the machine does
can but slow a run down.  The first way is the library's own choice: another one must be clearly
faster to win.  A race whose times scatter more than they differ is not settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

MARGIN = 0.05  # by which another must be faster than the first
TURN, RUNS = 0.002, 10  # seconds and runs of a turn: short runs are repeated within it
LONG = 0.03  # seconds: a run as long as this is disturbed about as much as the others
HOPELESS = 1.6  # times the fastest: such a way is given up
MOST = 10  # turns
PATIENCE = 0.4  # seconds for a race that is not settled


@dataclass
class Runner:
    """One way: ``run`` does the work once; ``handicap`` multiplies its times."""

    name: str
    run: Callable[[], object]
    handicap: float = 1.0
    turns: list[float] = field(default_factory=list)  # seconds: the fastest run of each

    def turn(self, clock: Callable[[], float] = time.perf_counter) -> None:
        begin = now = clock()
        seconds: list[float] = []
        # The very first run gets its memory from the system, page by page: that can take longer
        # than the work, and is no reason to give up a long run after its first turn.
        least = 1 if self.turns else 2
        while len(seconds) < least or (now - begin < TURN and len(seconds) < RUNS):
            self.run()
            before, now = now, clock()
            seconds.append(now - before)
        self.turns.append(min(seconds) * self.handicap)

    @property
    def seconds(self) -> float:
        return min(self.turns)

    @property
    def spread(self) -> float:
        """How far a usual turn is from the fastest, relative to the fastest."""
        if len(self.turns) < 2:
            return float("inf")
        return float(np.median(self.turns)) / self.seconds - 1


@dataclass(frozen=True)
class Result:
    """Who won, whether the times are good enough to remember it, and the seconds of each."""

    winner: str
    settled: bool
    seconds: dict[str, float]


def race(runners: Sequence[Runner], clock: Callable[[], float] = time.perf_counter) -> Result:
    """Let runners, each of which had its first turn, continue until it is clear who is fastest."""
    if len(runners) == 1:
        return _result(runners[0], True, runners)
    begin, live = clock(), list(runners)
    while True:
        first = runners[0]
        rival = min(runners[1:], key=lambda runner: runner.seconds)
        live = _still_in_it(live)
        slower, faster = sorted((first.seconds, rival.seconds), reverse=True)
        difference = slower / faster - 1
        spread = max(runner.spread for runner in (first, rival) if runner in live)
        settled = spread <= max(MARGIN, difference)
        turns = max(len(runner.turns) for runner in live)
        if turns > _telling(faster) and (settled or turns >= MOST or clock() - begin > PATIENCE):
            clearly = rival.seconds == faster and difference > MARGIN
            return _result(rival if clearly and settled else first, settled, runners)
        for runner in live:
            runner.turn(clock)


def _result(winner: Runner, settled: bool, runners: Sequence[Runner]) -> Result:
    return Result(winner.name, settled, {runner.name: runner.seconds for runner in runners})


def _still_in_it(runners: list[Runner]) -> list[Runner]:
    """Without those that had turns enough to show that they are too slow to win."""
    limit = HOPELESS * min(runner.seconds for runner in runners)
    return [r for r in runners if r.seconds <= limit or len(r.turns) < _telling(r.seconds)]


def _telling(seconds: float) -> int:
    """How many turns tell something: short runs can be disturbed in several, one after another."""
    return 1 if seconds > LONG else 3 if seconds > LONG / 3 else 5
