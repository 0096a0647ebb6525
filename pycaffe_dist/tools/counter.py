"""A line on the terminal that counts what a tool has done."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TextIO

from pycaffe_dist import caffe_log
from pycaffe_dist.report.progress import ERASE, REDRAW_SECONDS


class Counter:
    """``1,200 of 5,000 images  310/s``; nothing where standard error is no terminal.

    As a context manager it leaves a clean terminal behind.
    """

    def __init__(self, things: str, total: int | None = None, stream: TextIO | None = None) -> None:
        self.things, self.total = things, total
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.count = 0
        self._begin = self._drawn_at = time.monotonic()

    def add(self) -> None:
        """One more."""
        self.count += 1
        now = time.monotonic()
        if self.live and now - self._drawn_at >= REDRAW_SECONDS:
            self._drawn_at = now
            of = f" of {self.total:,}" if self.total else ""
            speed = self.count / (now - self._begin)
            self._write(f"{ERASE}{self.count:,}{of} {self.things}  {speed:,.0f}/s")

    def log(self, place: str, text: str, *args: object) -> None:
        """A line of the log, above the counter."""
        if self.live:
            self._write(ERASE)
        caffe_log.info(place, text, *args)

    def __enter__(self) -> Counter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.live:
            self._write(ERASE)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:  # the terminal has gone; the work continues
            self.live = False
