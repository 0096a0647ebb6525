"""Lines of Caffe's log.

Each names the place in Caffe's source that writes it, because people's tools know lines by it.
They go through ``logging``; :mod:`pycaffe_dist.report.glog` gives them their form.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("pycaffe_dist.caffe")


@contextmanager
def silenced() -> Iterator[None]:
    """Nothing is logged: nets that are only tried or looked at have no place in the log."""
    kept = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(kept)


def info(place: str, text: str, *args: object) -> None:
    logger.info(text, *args, extra={"place": place})


def warning(place: str, text: str, *args: object) -> None:
    logger.warning(text, *args, extra={"place": place})


def error(place: str, text: str, *args: object) -> None:
    logger.error(text, *args, extra={"place": place})
