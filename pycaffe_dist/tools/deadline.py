"""``--max-time``: training that stops when its time is over."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from pycaffe_dist.errors import NetError
from pycaffe_dist.solver import Action
from pycaffe_dist.tools.signals import Signals


def with_deadline(signals: Signals, max_time: str | None) -> Callable[[], Action]:
    """Stop, as a signal would, when the time is over."""
    if not max_time:
        return signals.requested
    end = time.monotonic() + seconds(max_time)
    return lambda: Action.STOP if time.monotonic() > end else signals.requested()


def seconds(text: str) -> float:
    """``90``, ``90s``, ``15m`` or ``2h`` in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if not match:
        raise NetError(f"{text!r} is not a time: write 90, 90s, 15m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]
