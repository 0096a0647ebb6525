"""Timer: Caffe's stop watch."""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)


class Timer:
    """``start()``, ``stop()``, and ``ms``: the milliseconds between the last two of them."""

    def __init__(self) -> None:
        self._started: float | None = None  # None: it stands still
        self._seconds: float | None = None  # None: it never ran

    def start(self) -> None:
        """Begin a new measurement; nothing happens if one is running."""
        if self._started is None:
            self._started = time.perf_counter()

    def stop(self) -> None:
        """End the measurement; nothing happens if none is running."""
        if self._started is not None:
            self._seconds = time.perf_counter() - self._started
            self._started = None

    @property
    def ms(self) -> float:
        """The last measurement; one that is running is stopped."""
        self.stop()
        if self._seconds is None:
            log.warning("Timer has never been run before reading time.")
            return 0.0
        return self._seconds * 1000
