"""Writes snapshots while training continues."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress

from pycaffe_dist.events import Event, SolveEnds, Updated
from pycaffe_dist.solvers.capture import Capture, Copies

LEAST = 19  # the priority of what computing should not notice, as nice(1) counts


class Writer:
    """Writes one snapshot at a time in a thread; also a subscriber, and a context manager.

    What is handed over is copied first.  That it was written is told in the thread that trains,
    after one of the next updates, or before the next snapshot, or when training ends; an error is
    raised there.  Leaving the context waits for what is being written.
    """

    def __init__(self) -> None:
        self._copies = Copies()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._told: Callable[[], object] = lambda: None

    def hand_over(self, capture: Capture, stem: str, told: Callable[[], object]) -> None:
        """Write a snapshot under a name, and call ``told`` when it is there."""
        self.wait()
        copy = capture.copied(self._copies)
        self._told = told
        self._thread = threading.Thread(target=self._write, args=(copy, stem), name="snapshot")
        self._thread.start()

    def _write(self, capture: Capture, stem: str) -> None:
        try:
            with suppress(OSError, AttributeError):  # another system: it goes without
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LEAST)
            capture.write(stem)
        except BaseException as e:
            self._error = e

    def wait(self) -> None:
        """Until what was handed over is written, which is told."""
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error
        self._told()

    def __call__(self, event: Event) -> None:
        over = self._thread is not None and not self._thread.is_alive()
        if isinstance(event, SolveEnds) or (isinstance(event, Updated) and over):
            self.wait()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            self._thread.join()
