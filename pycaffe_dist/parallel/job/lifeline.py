"""Signs of life of a job, on its way to whoever started it.

The word of mpirun is not enough: it returns 0 when a node's daemon is lost, and MPICH's when a rank
leaves with 0 in the middle.  So rank 0 tells its launcher itself what happens, on standard output,
which mpirun carries from any host without a shared disk.  A line of these begins with a character
that no program prints; the launcher takes it out, and shows the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict

from pycaffe_dist import events as e

VARIABLE = "PCD_LIFELINE"  # set by a launcher that listens
RESUME = "PCD_RESUME"  # a state file that a restarted job resumes from, whatever its flags say
AGAIN = "PCD_AGAIN"  # set where a job is started again: what is in its folder is its own
PROGRESS = "PCD_PROGRESS"  # set by a launcher that shows how far training is
MEMORY_FOLDER = "PCD_MEMORY"  # where snapshots are kept in memory, by a launcher that wants them
MEMORY_EVERY = "PCD_MEMORY_EVERY"  # after so many iterations
MARK = "\x1epcd "
BEAT_SECONDS = 0.5
RELAY_SECONDS = 0.2
RELAYED = (e.SolveBegins, e.Restored, e.TestBegins, e.Tested, e.TestInterrupted, e.SolveEnds)

BEFORE = -1  # the iteration of one that has not begun
START = "start"  # a rank has been started, on a host that was reached; and its process number
BEAT, SNAPSHOT, STALL, FAILED, END = "beat", "snapshot", "stall", "failed", "end"
KEPT = "kept"  # a snapshot of an iteration is whole in memory
EVENT = "event"  # of training, as JSON
MEMORY = "memory"  # the name of shared memory, which is to be removed if we cannot


def say(word: str, value: object) -> None:
    """Tell the launcher, if there is one."""
    if VARIABLE not in os.environ:
        return
    stdout = sys.__stdout__
    if stdout is not None:
        with contextlib.suppress(OSError, ValueError):  # who listened is gone
            # One write of whole lines: what other code prints does not get between.
            os.write(stdout.fileno(), f"\n{MARK}{word} {value}\n".encode())


def heard(line: str) -> tuple[str, str] | None:
    """The word and value of a line, if it is one of ours."""
    if not line.startswith(MARK):
        return None
    word, _, value = line[len(MARK) :].strip().partition(" ")
    return word, value


class Place:
    """Subscriber on every rank: knows the iteration, for the last words of one that fails."""

    iteration = BEFORE  # of this process: it trains one solver

    def __call__(self, event: e.Event) -> None:
        Place.iteration = event.iteration


class Lifeline:
    """Subscriber on rank 0: tells of iterations and of whole snapshots.

    The end it does not tell: more than the solver may have to finish first.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._beat_at = float("-inf")
        self._iteration = 0

    def __call__(self, event: e.Event) -> None:
        self._iteration = event.iteration
        if isinstance(event, e.Snapshotted):
            say(SNAPSHOT, os.path.abspath(event.state))
        self.beat()

    def beat(self) -> None:
        """We are alive."""
        now = self._clock()
        if now - self._beat_at >= BEAT_SECONDS:
            self._beat_at = now
            say(BEAT, self._iteration)


class Relay:
    """Subscriber on rank 0: hands on what a progress line shows, of iterations some in a second.

    Args:
        batch_size: images of one iteration, all ranks together.
    """

    def __init__(self, batch_size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.batch_size, self._clock = batch_size, clock
        self._sent_at = float("-inf")

    def __call__(self, event: e.Event) -> None:
        now = self._clock()
        due = isinstance(event, e.Updated) and now - self._sent_at >= RELAY_SECONDS
        if due or isinstance(event, RELAYED):
            self._sent_at = now
            facts = {"kind": type(event).__name__, "batch_size": self.batch_size, **asdict(event)}
            say(EVENT, json.dumps(facts))


def relayed(text: str) -> tuple[e.Event, int]:
    """An event that was handed on, and the batch size."""
    facts = json.loads(text)
    kind, batch = facts.pop("kind"), facts.pop("batch_size")
    if "outputs" in facts:
        facts["outputs"] = [e.Output(**output) for output in facts["outputs"]]
    event: e.Event = getattr(e, kind)(**facts)
    return event, batch
