"""Signals as requests to a running solver, with Caffe's effects."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType

from pycaffe_dist.solver import Action

EFFECTS = {"stop": Action.STOP, "snapshot": Action.SNAPSHOT, "none": Action.NONE}


class Signals:
    """While active, SIGINT, SIGHUP and SIGTERM ask for an action instead of ending the process.

    A second SIGINT ends it at once.  The handlers that were there come back at the end.
    """

    def __init__(self, sigint: str = "stop", sighup: str = "snapshot") -> None:
        self.effects = {
            signal.SIGHUP: EFFECTS[sighup],
            signal.SIGINT: EFFECTS[sigint],
            signal.SIGTERM: Action.STOP,
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
            os._exit(130)
        self._pending[which] = True
        if self.effects[which] is Action.STOP:
            self.received = which

    def requested(self) -> Action:
        """The oldest rule first: a pending SIGHUP before the others, as in Caffe."""
        for number, effect in self.effects.items():
            if self._pending.pop(number, False):
                return effect
        return Action.NONE
