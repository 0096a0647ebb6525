"""Update rules: from a gradient g, the value v that is taken off the weights.

Parameters are updated in blocks that stay in the cache, so that normalising, regularising, the rule
and the subtraction together touch main memory once for each array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycaffe_dist.errors import NetError
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.suggest import did_you_mean

BLOCK = 1 << 16  # values: a block's arrays stay in the cache, and calls cost little against them

RULES: dict[str, type[Rule]] = {}


def rule(name: str) -> Callable[[type[Rule]], type[Rule]]:
    """Register a rule under the ``type`` that solver files write."""

    def add(cls: type[Rule]) -> type[Rule]:
        RULES[name] = cls
        cls.type = name
        return cls

    return add


def create_rule(solver: SolverParameter) -> Rule:
    if solver.type not in RULES:
        raise NetError(
            f'there is no solver type "{solver.type}"{did_you_mean(solver.type, RULES)}; '
            f"the types are: {', '.join(RULES)}"
        )
    return RULES[solver.type](solver)


class Rule:
    """Base of the rules.

    Attributes:
        histories: how many arrays it keeps for each parameter.
        remembers_gradients: whether they change with a gradient even if the rate is 0.
    """

    type = ""
    histories = 1
    remembers_gradients = True

    def __init__(self, solver: SolverParameter) -> None:
        self.momentum = solver.momentum
        self.delta = solver.delta
        self.check(solver)

    def check(self, solver: SolverParameter) -> None:
        """Refuse settings that the rule cannot use."""

    def begin(self, iteration: int) -> None:
        """Called before each update."""

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        """Turn g into v, in place, for one block; ``work`` is room for a block."""
        raise NotImplementedError


@rule("SGD")
class SGD(Rule):
    """h ← μh + rate·g;  v = h"""

    remembers_gradients = False

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        (h,) = history
        h *= self.momentum
        g *= rate
        h += g
        g[...] = h


@rule("Nesterov")
class Nesterov(Rule):
    """h' = h;  h ← μh + rate·g;  v = (1 + μ)h − μh'"""

    remembers_gradients = False

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        (h,) = history
        h *= self.momentum
        work[...] = h
        g *= rate
        h += g
        np.multiply(h, 1 + self.momentum, out=g)
        g -= work


class _NoMomentum(Rule):
    def check(self, solver: SolverParameter) -> None:
        if solver.momentum:
            raise NetError(f"momentum cannot be used with {self.type}; leave it out")


@rule("AdaGrad")
class AdaGrad(_NoMomentum):
    """h ← h + g²;  v = rate·g / (√h + δ)"""

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        (h,) = history
        np.multiply(g, g, out=work)
        h += work
        _scaled(g, h, self.delta, rate, work)


@rule("RMSProp")
class RMSProp(_NoMomentum):
    """h ← ρh + (1 − ρ)g²;  v = rate·g / (√h + δ)"""

    def check(self, solver: SolverParameter) -> None:
        super().check(solver)
        self.decay = solver.rms_decay
        if not 0 <= self.decay < 1:
            raise NetError(f"rms_decay must lie between 0 and 1, not {self.decay:g}")

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        (h,) = history
        _average_square(h, g, self.decay, work)
        _scaled(g, h, self.delta, rate, work)


@rule("AdaDelta")
class AdaDelta(Rule):
    """h₁ ← μh₁ + (1 − μ)g²;  u = g·√((h₂ + δ)/(h₁ + δ));  h₂ ← μh₂ + (1 − μ)u²;  v = rate·u"""

    histories = 2

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        squares, updates = history
        _average_square(squares, g, self.momentum, work)
        np.add(squares, self.delta, out=work)
        ratio = updates + self.delta
        ratio /= work
        np.sqrt(ratio, out=ratio)
        g *= ratio
        _average_square(updates, g, self.momentum, work)
        g *= rate


@rule("Adam")
class Adam(Rule):
    """m ← β₁m + (1 − β₁)g;  q ← β₂q + (1 − β₂)g²;  v = rate·√(1 − β₂ᵗ)/(1 − β₁ᵗ) · m / (√q + δ)"""

    histories = 2

    def check(self, solver: SolverParameter) -> None:
        self.momentum2 = solver.momentum2

    def begin(self, iteration: int) -> None:
        t = iteration + 1
        self.correction = (1 - self.momentum2**t) ** 0.5 / (1 - self.momentum**t)

    def step(self, g: Array, history: Sequence[Array], rate: Any, work: Array) -> None:
        means, squares = history
        _average_square(squares, g, self.momentum2, work)
        means *= self.momentum
        g *= 1 - self.momentum
        means += g
        g[...] = means
        _scaled(g, squares, self.delta, g.dtype.type(rate * self.correction), work)


def _average_square(h: Array, g: Array, decay: float, work: Array) -> None:
    """h ← decay·h + (1 − decay)·g²"""
    np.multiply(g, g, out=work)
    work *= 1 - decay
    h *= decay
    h += work


def _scaled(g: Array, h: Array, delta: float, rate: Any, work: Array) -> None:
    """g ← rate·g / (√h + δ)"""
    np.sqrt(h, out=work)
    work += delta
    g /= work
    g *= rate
