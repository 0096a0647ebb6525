"""The communication thread: it takes exchanges forward while the main thread computes.

MPI moves bytes only inside its calls, so somebody must call it.  This thread asks every exchange
that is under way to take a step, and sleeps a little when none of them could.

States of an exchange
---------------------
*waiting* (in ``_waiting`` or ``_urgent``), *under way* (in the list that ``_work`` has), *done*
(``Submitted.done``).  At most MOST_UNDER_WAY are under way, the oldest first, and urgent ones
besides: all ranks submit exchanges in one order, so the oldest is under way on every rank, and no
ranks wait for each other in a circle.  Background steps (``serve``) are always under way until they
end, and the thread ends after them.

Who owns what
-------------
From ``start`` to ``close`` only this thread calls the communicator.  The two queues, ``_error`` and
``_closing`` are shared, under the condition ``_changed``.  ``done`` and ``result`` of an exchange
are written by this thread and read by the main thread, which waits on ``_changed`` until ``done``;
the arrays of an exchange belong to this thread until then.  An error ends the thread, and the main
thread raises it in its next ``submit``, ``wait``, ``wait_until`` or ``close``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from pycaffe_dist.parallel.job.watchdog import Watchdog
from pycaffe_dist.parallel.observe.trace import Exchange, Recorder
from pycaffe_dist.parallel.transport.communicator import (
    LONGEST_SLEEP,
    SHORTEST_SLEEP,
    Communicator,
    Steps,
)
from pycaffe_dist.threads import flush_denormals

T = TypeVar("T")
MOST_UNDER_WAY = 4
AHEAD = 5  # by how much this thread goes before the one that computes, as nice(1) counts
UNHURRIED = 1e-3  # seconds of sleep, at most, while the main thread does not wait
SWITCH_SECONDS = 0.5e-3  # after which a thread in Python code lets the other one in


class Submitted(Generic[T]):
    """An exchange that was handed over."""

    def __init__(self, name: str, scheme: str, steps: Steps[T]) -> None:
        self.name, self.scheme, self.steps = name, scheme, steps
        self.done = False
        self.result: T | None = None
        self.record: Exchange | None = None


class CommThread:
    """Runs jobs until closed.  An error of a job comes out of the next ``wait`` for any of them.

    Args:
        communicator: which only this thread uses from now on.
        recorder: is told of every job.
        watchdog: is told who is waited for.
    """

    def __init__(
        self,
        communicator: Communicator,
        recorder: Recorder | None = None,
        watchdog: Watchdog | None = None,
    ) -> None:
        self.communicator = communicator
        self.recorder = recorder or Recorder(communicator.rank)
        self._watchdog = watchdog
        self._changed = threading.Condition()
        self._waiting: deque[Submitted[Any]] = deque()
        self._urgent: list[Submitted[Any]] = []
        self._background: list[Steps[Any]] = []
        self._awaited = False  # whether the main thread waits
        self._error: BaseException | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="communication", daemon=True)
        self._switch = sys.getswitchinterval()

    def start(self) -> CommThread:
        if self.communicator.size > 1:
            sys.setswitchinterval(SWITCH_SECONDS)
        self._computes = threading.get_native_id()
        self._thread.start()
        return self

    def close(self) -> None:
        """Finish what is under way, in the background too, and stop.

        What is received in the background ends when all others have said goodbye: were it left
        before, MPI would write what still comes into memory that is free by then.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._watchdog is not None:
            self._watchdog.waiting("the end", self.communicator.awaited)
        self._thread.join()
        if self._watchdog is not None:
            self._watchdog.done()
        sys.setswitchinterval(self._switch)
        self._raise()

    # -- called by the main thread -----------------------------------------------------------

    def submit(
        self, steps: Steps[T], name: str, scheme: str = "", urgent: bool = False
    ) -> Submitted[T]:
        """Hand over an exchange; one that is small and urgent does not wait for older ones."""
        job = Submitted(name, scheme, steps)
        with self._changed:
            self._raise()
            (self._urgent if urgent else self._waiting).append(job)
            self._changed.notify_all()
        return job

    def note(self, name: str, scheme: str, sent: int) -> Submitted[None]:
        """Enter an exchange that a device takes forward: nobody here waits for it."""
        job: Submitted[None] = Submitted(name, scheme, _nothing())
        job.done = True
        record = self.recorder.begin(name, scheme)
        record.sent = record.received = sent
        record.end()
        return job

    def serve(self, steps: Steps[Any]) -> None:
        """Hand over something that runs beside the exchanges; it ends some time after close."""
        with self._changed:
            self._background.append(steps)
            self._changed.notify_all()

    def wait(self, job: Submitted[T], meanwhile: Callable[[], bool] = lambda: False) -> T:
        """The result of a job; until it is there, do what ``meanwhile`` finds to do."""
        while not job.done:
            if meanwhile():
                continue
            with self._waiting_for(job.name):
                if not job.done:
                    self._raise()
                    self._changed.wait()
        return job.result  # type: ignore[return-value]

    def do(self, steps: Steps[T], name: str, scheme: str = "control") -> T:
        """Hand over an urgent exchange and wait for its result."""
        return self.wait(self.submit(steps, name, scheme, urgent=True))

    def wait_until(
        self, condition: Callable[[], bool], name: str, missing: Callable[[], list[int]]
    ) -> None:
        """Wait until what a background job brings about is true, for want of ``missing`` ranks."""
        if condition():
            return
        if self._watchdog is not None:
            self._watchdog.waiting(name, missing)
        with self._waiting_for(name):
            while not condition():
                self._raise()
                self._changed.wait()
        if self._watchdog is not None:
            self._watchdog.done()

    @contextmanager
    def _waiting_for(self, name: str) -> Iterator[None]:
        """What the main thread does is waiting, as long as it lasts."""
        self._awaited = True
        try:
            with self.recorder.waiting(name), self._changed:
                yield
        finally:
            self._awaited = False

    def nudge(self) -> None:
        """Something has changed that a background job or a waiter looks at."""
        with self._changed:
            self._changed.notify_all()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    # -- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            if self.communicator.size > 1:
                go_before(self._computes)
            with flush_denormals():
                self._work()
        except BaseException as e:
            with self._changed:
                self._error = e
                self._changed.notify_all()

    def _work(self) -> None:
        under_way: list[Submitted[Any]] = []
        pause = SHORTEST_SLEEP
        while True:
            with self._changed:
                idle = not (under_way or self._waiting or self._urgent)
                if idle and self._closing and not self._background:
                    return
                if idle and not self._background:
                    self._changed.wait()
                begun = self._next(len(under_way))
            for job in begun:
                job.record = self.recorder.begin(job.name, job.scheme)
            if begun:
                under_way += begun
                self._tell_watchdog(under_way)
            moved = sum(self._step(job) for job in under_way) > 0
            served = self._serve()
            if moved:
                before = len(under_way)
                under_way = [job for job in under_way if not job.done]
                self._tell_watchdog(under_way)
                served |= len(under_way) < before
            if served:
                self.nudge()
            if moved or served:
                pause = SHORTEST_SLEEP
            elif under_way or self._background:
                time.sleep(pause)
                pause = min(pause * 1.5, LONGEST_SLEEP if self._awaited else UNHURRIED)

    def _serve(self) -> bool:
        """Let what continues in the background take a step, until it is over; whether it moved."""
        moved = [next(steps, None) for steps in self._background]
        if None in moved:
            over = [steps for steps, m in zip(self._background, moved, strict=False) if m is None]
            with self._changed:
                self._background = [steps for steps in self._background if steps not in over]
        return any(m is not False for m in moved)

    def _next(self, under_way: int) -> list[Submitted[Any]]:
        """The jobs that begin now: all urgent ones, and the oldest others if there is room."""
        begun, self._urgent = self._urgent, []
        while self._waiting and under_way + len(begun) < MOST_UNDER_WAY:
            begun.append(self._waiting.popleft())
        return begun

    def _step(self, job: Submitted[Any]) -> bool:
        """Let an exchange take a step; whether it moved."""
        assert job.record is not None
        sent, received = self.communicator.sent, self.communicator.received
        try:
            moved = next(job.steps)
        except StopIteration as end:
            job.result = end.value
            moved = job.done = True
        job.record.sent += self.communicator.sent - sent
        job.record.received += self.communicator.received - received
        if job.done:
            job.record.end()
        return moved

    def _tell_watchdog(self, under_way: list[Submitted[Any]]) -> None:
        if self._watchdog is None:
            return
        if under_way:
            oldest = under_way[0]
            what = f"{oldest.name} ({oldest.scheme})"
            self._watchdog.waiting(what, self.communicator.awaited)
        else:
            self._watchdog.done()


def _nothing() -> Steps[None]:
    yield from ()


def go_before(thread: int) -> None:
    """Let this thread go before another one where both want a core."""
    own = threading.get_native_id()
    with suppress(OSError, AttributeError):  # another system: it goes without
        try:
            os.setpriority(os.PRIO_PROCESS, own, os.getpriority(os.PRIO_PROCESS, own) - AHEAD)
        except PermissionError:  # only root may go ahead; anybody may step back
            nice = os.getpriority(os.PRIO_PROCESS, thread) + AHEAD
            os.setpriority(os.PRIO_PROCESS, thread, nice)
