"""Stopping early: when a test score has reached what it should."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import NetError
from pycaffe_dist.events import Event, Tested
from pycaffe_dist.solver import Action

_GOAL = re.compile(r"\s*([\w./-]+?)\s*(<=|>=|<|>)\s*([-+.\w]+)\s*")
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class StopWhen:
    """Subscriber that asks for a stop at the first test whose score meets a goal.

    All ranks have one, and all hear the same score.

    Args:
        goal: an output of a test net, a comparison and a number: "accuracy>=0.99".
    """

    def __init__(self, goal: str) -> None:
        found = _GOAL.fullmatch(goal)
        try:
            self.output, sign, value = found.groups() if found else ("", "", "")
            self.compare, self.value = _COMPARE[sign], float(value)
        except (KeyError, ValueError):
            raise NetError(
                f"--stop-when {goal}: expected OUTPUT, <, <=, > or >=, and a number, such as "
                "accuracy>=0.99"
            ) from None
        self.goal, self._met = goal, False

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Tested) or self._met:
            return
        values = [o.value for o in event.outputs if o.name == self.output]
        if not values:
            names = ", ".join(dict.fromkeys(o.name for o in event.outputs))
            raise NetError(f"--stop-when {self.goal}: the test net puts out {names}")
        if self.compare(values[0], self.value):
            self._met = True
            text = "Iteration %d, %s = %g: %s, as asked for by --stop-when"
            log.info("solver.py", text, event.iteration, self.output, values[0], self.goal)

    def or_else(self, ask: Callable[[], Action]) -> Callable[[], Action]:
        """What is asked for: a stop once the goal is met, else what ``ask`` says."""
        return lambda: Action.STOP if self._met else ask()
