"""Update rules: from a gradient g, the value v that is taken off the weights.

Parameters are updated in blocks that stay in the cache, so that normalising, regularising, the rule
and the subtraction together touch main memory once for each array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from pycaffe_dist.aliases import Array, Number
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.update_step import UpdateStep

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
    """Base of the rules.  A rule is a function: nothing in it changes from step to step.

    Attributes:
        slots: the names of the arrays that it keeps for a parameter, in the order of state files.
        remembers_gradients: whether they change with a gradient even if the rate is 0.
        decoupled: weight decay is taken off the weights, rate·λw, and not added to the gradient.
        whole: the rate of a parameter depends on its norm and its gradient's, so that parts of it
            cannot be updated by themselves.
        scales_update: ... and on that of v, which is made with the rate 1 first.
    """

    type = ""
    slots: tuple[str, ...] = ("momentum",)
    remembers_gradients = True
    decoupled = False
    whole = False
    scales_update = False

    def __init__(self, solver: SolverParameter) -> None:
        self.momentum = solver.momentum
        self.delta = solver.delta
        if solver.larc:
            self.whole = True
            self.larc_eta, self.larc_clips = solver.larc_eta, solver.larc_policy == "clip"
            if solver.larc_policy not in ("scale", "clip"):
                raise NetError(f'larc_policy is "scale" or "clip", not "{solver.larc_policy}"')
        self.check(solver)

    def check(self, solver: SolverParameter) -> None:
        """Refuse settings that the rule cannot use."""

    def correction(self, iteration: int) -> float:
        """What the rate is multiplied by in an iteration, counted from 0."""
        return 1.0

    def momentum_of(self, step: UpdateStep) -> float:
        """That of the solver, unless it has a policy (SGD and Nesterov)."""
        return float(self.momentum if step.momentum is None else step.momentum)

    def local_rate(self, step: UpdateStep, param: Param, w: Array, g: Array) -> float:
        """The rate of a ``whole`` parameter, of which ``step`` has no factors yet.

        This is NVIDIA Caffe's ``larc``: local = (1 − μ)·η·‖w‖/‖g‖;  rate·local, or the smaller of
        the two if it clips.  There lr_mult only says whether a parameter learns.
        """
        local = (1 - self.momentum_of(step)) * self.larc_eta * ratio(w, g)
        if not param.lr_mult:
            return 0.0
        return float(min(step.rate, local) if self.larc_clips else step.rate * local)

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        """Turn g into v, in place, for one block.

        Args:
            g: gradients, normalised and regularised.
            past: their history, by slot; it is changed too.
            step: the update of this parameter; its rate has the type of the values.
            work: a buffer of a block.
        """
        raise NotImplementedError


@rule("SGD")
class SGD(Rule):
    """h ← μh + rate·g;  v = h"""

    remembers_gradients = False

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        h = past["momentum"]
        h *= self.momentum_of(step)
        g *= step.rate
        h += g
        g[...] = h


@rule("Nesterov")
class Nesterov(Rule):
    """h' = h;  h ← μh + rate·g;  v = (1 + μ)h − μh'"""

    remembers_gradients = False

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        h = past["momentum"]
        h *= self.momentum_of(step)
        work[...] = h
        g *= step.rate
        h += g
        np.multiply(h, 1 + self.momentum_of(step), out=g)
        g -= work


class _NoMomentum(Rule):
    def check(self, solver: SolverParameter) -> None:
        if solver.momentum:
            raise NetError(f"momentum cannot be used with {self.type}; leave it out")


@rule("AdaGrad")
class AdaGrad(_NoMomentum):
    """h ← h + g²;  v = rate·g / (√h + δ)"""

    slots = ("squares",)

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        h = past["squares"]
        np.multiply(g, g, out=work)
        h += work
        _scaled(g, h, self.delta, step.rate, work)


@rule("RMSProp")
class RMSProp(_NoMomentum):
    """h ← ρh + (1 − ρ)g²;  v = rate·g / (√h + δ)"""

    slots = ("squares",)

    def check(self, solver: SolverParameter) -> None:
        super().check(solver)
        self.decay = solver.rms_decay
        if not 0 <= self.decay < 1:
            raise NetError(f"rms_decay must lie between 0 and 1, not {self.decay:g}")

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        h = past["squares"]
        _average_square(h, g, self.decay, work)
        _scaled(g, h, self.delta, step.rate, work)


@rule("AdaDelta")
class AdaDelta(Rule):
    """h₁ ← μh₁ + (1 − μ)g²;  u = g·√((h₂ + δ)/(h₁ + δ));  h₂ ← μh₂ + (1 − μ)u²;  v = rate·u"""

    slots = ("squares", "updates")

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        squares, updates = past["squares"], past["updates"]
        _average_square(squares, g, self.momentum, work)
        np.add(squares, self.delta, out=work)
        ratio = updates + self.delta
        ratio /= work
        np.sqrt(ratio, out=ratio)
        g *= ratio
        _average_square(updates, g, self.momentum, work)
        g *= step.rate


@rule("Adam")
class Adam(Rule):
    """m ← β₁m + (1 − β₁)g;  q ← β₂q + (1 − β₂)g²;  v = rate·√(1 − β₂ᵗ)/(1 − β₁ᵗ) · m / (√q + δ)"""

    slots = ("means", "squares")

    def check(self, solver: SolverParameter) -> None:
        self.momentum2 = solver.momentum2

    def correction(self, iteration: int) -> float:
        t = iteration + 1
        ratio: float = (1 - self.momentum2**t) ** 0.5 / (1 - self.momentum**t)
        return ratio

    def step(self, g: Array, past: Mapping[str, Array], step: UpdateStep, work: Array) -> None:
        means, squares = past["means"], past["squares"]
        _average_square(squares, g, self.momentum2, work)
        means *= self.momentum
        g *= 1 - self.momentum
        means += g
        g[...] = means
        _scaled(g, squares, self.delta, g.dtype.type(step.rate * step.correction), work)


@rule("AdamW")
class AdamW(Adam):
    """Adam with v + rate·λw: weight decay that the averages do not know."""

    decoupled = True


@rule("LARS")
class LARS(SGD):
    """SGD with rate·η‖w‖/(‖g‖ + λ‖w‖): every parameter moves by a like share of its norm.

    η is ``larc_eta``, 0.001 if it is not given.
    """

    whole = True

    def check(self, solver: SolverParameter) -> None:
        self.larc_eta = solver.larc_eta

    def local_rate(self, step: UpdateStep, param: Param, w: Array, g: Array) -> float:
        norm, slope = _norm(w), _norm(g)
        decay = step.decay * param.decay_mult
        trust = self.larc_eta * norm / (slope + decay * norm) if norm and slope else 1.0
        return float(step.rate * param.lr_mult * trust)


@rule("LAMB")
class LAMB(Adam):
    """u = Adam's m/(√q + δ), bias corrected, + λw;  v = rate·‖w‖/‖u‖ · u"""

    decoupled = whole = scales_update = True

    def local_rate(self, step: UpdateStep, param: Param, w: Array, g: Array) -> float:
        """After the step: ``g`` is u."""
        return float(step.rate * param.lr_mult * ratio(w, g))


def ratio(w: Array, g: Array) -> float:
    """‖w‖/‖g‖, or 1 where one of them is 0."""
    norm, slope = _norm(w), _norm(g)
    return norm / slope if norm and slope else 1.0


def _norm(x: Array) -> float:
    return math.sqrt(float(np.vdot(x, x)))


def _average_square(h: Array, g: Array, decay: float, work: Array) -> None:
    """h ← decay·h + (1 − decay)·g²"""
    np.multiply(g, g, out=work)
    work *= 1 - decay
    h *= decay
    h += work


def _scaled(g: Array, h: Array, delta: float, rate: Number, work: Array) -> None:
    """g ← rate·g / (√h + δ)"""
    np.sqrt(h, out=work)
    work += delta
    g /= work
    g *= rate
