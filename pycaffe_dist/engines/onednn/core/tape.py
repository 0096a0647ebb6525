"""What a pass does to memory, written down as it happens: calls and the rooms they are given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

Step = tuple[Callable[..., object], tuple[Any, ...]]


class Recorder(threading.local):
    """Whether this thread is writing down what it does.

    Attributes:
        steps: what was done since recording began; None: nothing is written down.
    """

    steps: list[Step] | None = None


RECORDER = Recorder()


def do(call: Callable[..., object], *rooms: Any) -> None:
    """Make a call that depends on nothing but its rooms, and write it down if asked to.

    A layer that ``replays`` does all that its TEST forward does to memory by this function.
    """
    call(*rooms)
    if RECORDER.steps is not None:
        RECORDER.steps.append((call, rooms))
