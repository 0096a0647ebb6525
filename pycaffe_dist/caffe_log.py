"""Lines of Caffe's log.

Each names the place in Caffe's source that writes it, because people's tools know lines by it.
They go through ``logging``; :mod:`pycaffe_dist.report.glog` gives them their form.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

logger = logging.getLogger("pycaffe_dist.caffe")


@contextmanager
def at_least(level: int) -> Iterator[None]:
    """For a while, lines below ``level`` are left out."""
    kept = logger.level
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(kept)


def silenced() -> AbstractContextManager[None]:
    """Nothing is logged: nets that are only tried or looked at have no place in the log."""
    return at_least(logging.CRITICAL)


def enabled() -> bool:
    """Whether anybody reads lines of level INFO: most nets are built without a log."""
    return logger.isEnabledFor(logging.INFO)


def info(place: str, text: str, *args: object) -> None:
    if logger.isEnabledFor(logging.INFO):
        logger.info(text, *args, extra={"place": place})


def warning(place: str, text: str, *args: object) -> None:
    logger.warning(text, *args, extra={"place": place})


def error(place: str, text: str, *args: object) -> None:
    logger.error(text, *args, extra={"place": place})
