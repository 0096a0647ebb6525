"""Log lines as glog writes them, where glog's variables want them.

A line is ``I1116 00:23:51.503093 12202 solver.cpp:239] text``.  As in pycaffe and in the ``caffe``
program all lines go to standard error, unless the environment says otherwise:

    GLOG_minloglevel      0 info, 1 warning, 2 error, 3 fatal: nothing below it is logged
    GLOG_v                1 or more: debugging lines too
    GLOG_logtostderr      1: standard error and no file; 0: only errors go there
    GLOG_alsologtostderr  the same word for standard error, with files
    GLOG_stderrthreshold  with a 0 above: the severity from which lines go to standard error
    GLOG_log_dir          a folder: a file of this process in it

The variables are read each time that a net or a solver is made, so a script may set them.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from dataclasses import dataclass
from datetime import datetime
from io import TextIOWrapper
from numbers import Number
from pathlib import Path
from typing import TextIO

from pycaffe_dist.errors import FileError, PcdError, visible, visible_lines
from pycaffe_dist.files import open_regular

SEVERITIES = (logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
LOGGER = logging.getLogger("pycaffe_dist")
LOG_DIR = "GLOG_log_dir"
STDERR, FILE = "glog to stderr", "glog to a file"  # our handlers know each other by name


@dataclass
class Asked:
    """What flags or ``caffe.init_log`` asked for; it counts more than the environment."""

    level: int | None = None
    to_stderr: bool | None = None


ASKED = Asked()


class GlogFormatter(logging.Formatter):
    """Severity letter and month-day, time to the microsecond, thread, file:line."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created)
        letter = "IWEF"[sum(record.levelno >= level for level in SEVERITIES[1:])]
        place = getattr(record, "place", f"{record.filename}:{record.lineno}")
        thread = threading.get_native_id()
        return f"{letter}{when:%m%d %H:%M:%S.%f} {thread:5d} {place}] {_message(record)}"


def _message(record: logging.LogRecord) -> str:
    """The text with its arguments; a name among them begins no line, which may be forged."""
    args = record.args
    if isinstance(args, tuple):
        args = tuple(a if isinstance(a, (Number, PcdError)) else visible(str(a)) for a in args)
    return visible_lines(str(record.msg) % args if args else str(record.msg))


def log_to_stderr(level: int | None = None) -> None:
    """Send our log, in glog's format and once, to where the variables want it.

    Args:
        level: of Python's logging; without one what was asked for, or the environment, decides.
    """
    wanted = minimum() if level is None else level
    LOGGER.setLevel(wanted)
    handlers = {handler.name: handler for handler in LOGGER.handlers}
    stderr = handlers.get(STDERR) or _add(_Stderr(), STDERR)
    quiet = ASKED.to_stderr is False or (ASKED.to_stderr is None and _told(False))
    least = SEVERITIES[_severity("GLOG_stderrthreshold", 2)] if quiet else logging.NOTSET
    stderr.setLevel(least)
    folder = os.environ.get(LOG_DIR)
    if folder and FILE not in handlers and not _true("GLOG_logtostderr"):
        _log_into(Path(folder))


def warn_on_screen_only() -> None:
    """Show warnings and errors alone; log files have all lines that the variables want."""
    LOGGER.setLevel(min(LOGGER.level, SEVERITIES[_severity("GLOG_minloglevel", 0)]))
    for handler in LOGGER.handlers:
        if handler.name == STDERR:
            handler.setLevel(max(handler.level, logging.WARNING))


def minimum() -> int:
    """The level of Python's logging from which lines are written at all."""
    if ASKED.level is not None:
        return ASKED.level
    level = SEVERITIES[_severity("GLOG_minloglevel", 0)]
    return logging.DEBUG if level == logging.INFO and _number("GLOG_v", 0) > 0 else level


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what ``sys.stderr`` is at the time: notebooks and tests exchange it."""

    def __init__(self) -> None:
        self._other: TextIO | None = None
        super().__init__()

    @property
    def stream(self) -> TextIO:
        return self._other or sys.stderr

    @stream.setter
    def stream(self, stream: TextIO) -> None:
        self._other = None if stream is sys.stderr else stream

    def emit(self, record: logging.LogRecord) -> None:
        # A root handler on the same screen (basicConfig, a notebook's) would repeat the line.
        LOGGER.propagate = not any(map(_on_screen, logging.getLogger().handlers))
        super().emit(record)


class LogFile(logging.FileHandler):
    """A log on disk; "a" continues with what is there, "w" begins anew."""

    def _open(self) -> TextIOWrapper:
        file = open_regular(self.baseFilename, f"{self.mode}b")
        return TextIOWrapper(file, "utf-8", "backslashreplace")


def _on_screen(handler: logging.Handler) -> bool:
    screens = (sys.stderr, sys.stdout, sys.__stderr__, sys.__stdout__)
    return isinstance(handler, logging.StreamHandler) and handler.stream in screens


def _log_into(folder: Path) -> None:
    """A log file under glog's name for it, and a link to the newest: ``train.INFO``."""
    program = Path(sys.argv[0] or "python").name
    import socket  # this and getpass are slow to import, and few logs go to files

    who = f"{program}.{socket.gethostname()}.{_user()}"
    path = folder / f"{who}.log.INFO.{datetime.now():%Y%m%d-%H%M%S}.{os.getpid()}"
    link = folder / f"{program}.INFO"
    try:
        _add(LogFile(path), FILE)
        link.unlink(missing_ok=True)
        link.symlink_to(path.name)
    except (FileError, OSError) as e:
        LOGGER.warning("GLOG_log_dir: %s", e)


def _user() -> str:
    try:
        import getpass

        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "invalid-user"


def _add(handler: logging.Handler, name: str) -> logging.Handler:
    handler.set_name(name)
    handler.setFormatter(GlogFormatter())
    LOGGER.addHandler(handler)
    return handler


# -- the environment -------------------------------------------------------------------------------


def _told(value: bool) -> bool:
    """Whether one of the two variables on standard error says ``value``, and none the contrary."""
    names = ("GLOG_logtostderr", "GLOG_alsologtostderr")
    said = [_true(name) for name in names if os.environ.get(name)]
    return bool(said) and all(word is value for word in said)


def _true(name: str) -> bool:
    """The words that gflags takes for true."""
    return os.environ.get(name, "").lower() in ("1", "t", "true", "y", "yes")


def _severity(name: str, default: int) -> int:
    return min(max(_number(name, default), 0), len(SEVERITIES) - 1)


def _number(name: str, default: int) -> int:
    try:
        return int(os.environ.get(name, ""))
    except ValueError:
        return default
