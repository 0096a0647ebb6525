"""A line on the terminal that says how far training is, below the log."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import TextIO

from pycaffe_dist import events as e
from pycaffe_dist.errors import visible

REDRAW_SECONDS = 0.1
ERASE = "\r\x1b[K"
USUAL_WIDTH = 80


class Progress:
    """Subscriber that keeps one line up to date; does nothing where the stream is no terminal.

    It is a stream too: what is written to it goes above the line.  As a context manager it puts
    itself before the log's handlers on the same stream, and leaves a clean terminal behind.

    Args:
        stream: where the line is, standard error most often.
        batch_size: images of one iteration, all ranks together, if known.
    """

    def __init__(
        self, stream: TextIO, batch_size: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stream, self.batch_size = stream, batch_size
        self.live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._clock = clock
        self._lock = threading.RLock()  # a signal's handler may log while we draw
        self._shown = False
        self._drawn_at = float("-inf")
        self._handlers: list[logging.StreamHandler[TextIO]] = []

        self.iteration, self.max_iter = 0, 0
        self.loss = self.rate = float("nan")
        self.doing = ""
        self.scores: dict[int, str] = {}
        self.per_second = 0.0
        self._first: tuple[float, int] | None = None  # when, and at which iteration, we began
        self._recent: deque[tuple[float, int]] = deque(maxlen=50)

    # -- events ------------------------------------------------------------------------------

    def __call__(self, event: e.Event) -> None:
        note = getattr(self, f"on_{type(event).__name__}", None)
        if self.live and note is not None:
            with self._lock:
                note(event)

    def on_SolveBegins(self, event: e.SolveBegins) -> None:
        self.iteration, self.max_iter = event.iteration, event.max_iter
        self._start_clocks()

    def on_Restored(self, event: e.Restored) -> None:
        self.iteration = event.iteration
        self._start_clocks()

    def on_Updated(self, event: e.Updated) -> None:
        self.iteration, self.loss, self.rate = event.iteration, event.loss, event.rate
        now = self._clock()
        if self._first is None:  # here, as the first iteration also sets things up
            self._first = (now, event.iteration)
        if now - self._drawn_at >= REDRAW_SECONDS:
            self._measure(now)
            self.show()

    def on_TestBegins(self, event: e.TestBegins) -> None:
        self.doing = "testing" if event.net == 0 else f"testing #{event.net}"
        self.show()

    def on_Tested(self, event: e.Tested) -> None:
        scores = [o for o in event.outputs if not o.loss_weight] or event.outputs
        if scores:
            where = f"#{event.net} " if event.net else ""
            self.scores[event.net] = f"{where}{visible(scores[0].name)} {scores[0].value:.4g}"
        self._test_ends()

    def on_TestInterrupted(self, event: e.TestInterrupted) -> None:
        self._test_ends()

    def on_SolveEnds(self, event: e.SolveEnds) -> None:
        self.hide()

    def _test_ends(self) -> None:
        self.doing = ""
        self._recent.clear()  # images per second are those of training

    def _start_clocks(self) -> None:
        self._first = None
        self._recent.clear()

    def _measure(self, now: float) -> None:
        self._recent.append((now, self.iteration))
        before, iteration = self._recent[0]
        if now > before:
            self.per_second = (self.iteration - iteration) / (now - before)

    # -- the line ----------------------------------------------------------------------------

    def line(self, width: int) -> str:
        """What there is to say, the less important left out where ``width`` is short."""
        parts = [(0, f"iteration {self.iteration}")]
        if self.max_iter:
            percent = 100 * self.iteration // self.max_iter
            parts = [(0, f"iteration {self.iteration}/{self.max_iter}"), (2, f"{percent}%")]
        if self.doing:
            parts.append((1, self.doing))
        if self.loss == self.loss or self._first:  # a loss may well be nan
            parts += [(1, f"loss {self.loss:.4g}"), (6, f"lr {self.rate:.4g}")]
        if self.per_second:
            parts.append((4, self._speed()))
        if (left := self._seconds_left()) is not None:
            parts.append((3, f"ETA {timedelta(seconds=round(left))}"))
        parts += [(5, score) for score in self.scores.values()]
        while len(parts) > 1 and len("  ".join(text for _, text in parts)) > width:
            parts.remove(max(reversed(parts), key=lambda part: part[0]))
        return "  ".join(text for _, text in parts)[:width]

    def _speed(self) -> str:
        speed = self.per_second * (self.batch_size or 1)
        digits = f"{speed:,.0f}" if speed >= 100 else f"{speed:.3g}"
        return f"{digits} {'images' if self.batch_size else 'iterations'}/s"

    def _seconds_left(self) -> float | None:
        """From the pace since the beginning, tests and snapshots included."""
        if self._first is None or not self._first[1] < self.iteration <= self.max_iter:
            return None
        when, iteration = self._first
        pace = (self._clock() - when) / (self.iteration - iteration)
        return pace * (self.max_iter - self.iteration)

    # -- the terminal ------------------------------------------------------------------------

    def show(self) -> None:
        with self._lock:
            self._drawn_at = self._clock()
            self._put(self._drawing())
            self._shown = self.live

    def hide(self) -> None:
        with self._lock:
            if self._shown:
                self._put(ERASE)
                self._shown = False

    def write(self, text: str) -> int:
        """Write ``text``, lines of a log, above the line."""
        with self._lock:
            if not self._shown:
                return self.stream.write(text)
            self._shown = text.endswith("\n")
            below = self._drawing() if self._shown else ""
            self.stream.write(ERASE + text + below)  # at once, or the line would flicker
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def _drawing(self) -> str:
        # The last column stays free: some terminals wrap when it is written.
        return "\r" + self.line(self._width() - 1) + "\x1b[K"

    def _put(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # the terminal has gone; training has not
            self.live = self._shown = False

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self.stream.fileno()).columns or USUAL_WIDTH
        except OSError:
            return USUAL_WIDTH

    # -- the log -----------------------------------------------------------------------------

    def __enter__(self) -> Progress:
        for handler in logging.getLogger("pycaffe_dist").handlers if self.live else ():
            if isinstance(handler, logging.StreamHandler) and handler.stream is self.stream:
                handler.setStream(self)
                self._handlers.append(handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.hide()
        for handler in self._handlers:
            handler.setStream(self.stream)
        self._handlers.clear()
