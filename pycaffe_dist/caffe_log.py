"""Lines of Caffe's log.

Each names the place in Caffe's source that writes it, because people's tools know lines by it.
They go through ``logging``; :mod:`pycaffe_dist.report.glog` gives them their form.
"""

from __future__ import annotations

import logging

logger = logging.getLogger("pycaffe_dist.caffe")


def info(place: str, text: str, *args: object) -> None:
    logger.info(text, *args, extra={"place": place})


def warning(place: str, text: str, *args: object) -> None:
    logger.warning(text, *args, extra={"place": place})


def error(place: str, text: str, *args: object) -> None:
    logger.error(text, *args, extra={"place": place})
