"""Log lines as glog writes them: ``I1116 00:23:51.503093 12202 solver.cpp:239] text``."""

from __future__ import annotations

import logging
import sys
import threading
from datetime import datetime


class GlogFormatter(logging.Formatter):
    """Severity letter and month-day, time to the microsecond, thread, file:line."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created)
        letter = "F" if record.levelno >= logging.CRITICAL else record.levelname[0]
        place = getattr(record, "place", f"{record.filename}:{record.lineno}")
        thread = threading.get_native_id()
        return f"{letter}{when:%m%d %H:%M:%S.%f} {thread:5d} {place}] {record.getMessage()}"


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send our log to standard error, once, in glog's format."""
    root = logging.getLogger("pycaffe_dist")
    if not any(isinstance(h.formatter, GlogFormatter) for h in root.handlers):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(GlogFormatter())
        root.addHandler(handler)
    root.setLevel(level)
