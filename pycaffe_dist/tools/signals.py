"""Signals as requests to a running solver, with Caffe's effects."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType

from pycaffe_dist.solver import Action

EFFECTS = {"stop": Action.STOP, "snapshot": Action.SNAPSHOT, "none": Action.NONE}
# What a shell reports for a program ended by these signals.
INTERRUPTED = 128 + signal.SIGINT
ENDED = {number: 128 + number for number in (signal.SIGTERM, signal.SIGPIPE)}


class Signals:
    """While active, signals ask for an action instead of ending the process.

    SIGINT, SIGHUP and SIGTERM are Caffe's; SIGUSR1 asks for a snapshot and SIGUSR2 for a stop,
    because mpirun hands these on without killing.  SIGPIPE, from a log that nobody reads any more,
    asks for a stop too.  A second SIGINT ends the process at once.  The handlers that were there
    come back at the end.

    Args:
        sigint, sighup: the effects of these two.
        leave: how the process ends at once.
    """

    def __init__(
        self,
        sigint: str = "stop",
        sighup: str = "snapshot",
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        self._leave = leave
        self.effects = {
            signal.SIGHUP: EFFECTS[sighup],
            signal.SIGUSR1: Action.SNAPSHOT,
            signal.SIGINT: EFFECTS[sigint],
            signal.SIGTERM: Action.STOP,
            signal.SIGUSR2: Action.STOP,
            signal.SIGPIPE: Action.STOP,
        }
        self._pending: dict[signal.Signals, bool] = {}
        self._before: dict[signal.Signals, object] = {}
        self.received: signal.Signals | None = None  # the one that stopped us

    def __enter__(self) -> Signals:
        for number in self.effects:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _note(self, number: int, frame: FrameType | None) -> None:
        which = signal.Signals(number)
        if which is signal.SIGINT and self.received is signal.SIGINT:
            self._leave(INTERRUPTED)
        self._pending[which] = True
        if self.effects[which] is Action.STOP:
            self.received = which

    @property
    def code(self) -> int:
        """The exit code of a program that did as it was asked to."""
        return ENDED.get(self.received, 0) if self.received else 0

    def requested(self) -> Action:
        """The oldest rule first: a pending SIGHUP before the others, as in Caffe."""
        for number, effect in self.effects.items():
            if self._pending.pop(number, False):
                return effect
        return Action.NONE
