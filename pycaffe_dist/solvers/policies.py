"""Learning-rate policies: how base_lr changes with the iteration.

fixed      base
step       base · γ^⌊iter / stepsize⌋
exp        base · γ^iter
inv        base · (1 + γ · iter)^(−power)
multistep  base · γ^(number of stepvalues passed)
poly       base · (1 − iter / max_iter)^power
sigmoid    base / (1 + e^(−γ (iter − stepsize)))

Those of forks, and of today:

plateau    base · γ^(number of plateaus passed), see :class:`Plateau` (SSD)
multifixed stagelr[i] of the first i with iter <= stageiter[i], then the last one (Intel, YOLO)
cosine     min_lr + (base − min_lr) · (1 + cos(π · iter / max_iter)) / 2

Before any policy comes a warm-up: up to base_lr from warmup_start_lr in warmup_iter iterations, in
a line (Intel), or from rampup_lr in rampup_interval, in a parabola (NVIDIA).  No policy goes below
``min_lr``; poly ends there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.suggest import did_you_mean

# policy -> the settings it cannot do without
NEEDS: dict[str, tuple[str, ...]] = {
    "fixed": (),
    "step": ("gamma", "stepsize"),
    "exp": ("gamma",),
    "inv": ("gamma", "power"),
    "multistep": ("gamma", "stepvalue"),
    "poly": ("power", "max_iter"),
    "sigmoid": ("gamma", "stepsize"),
    "plateau": ("gamma", "plateau_winsize"),
    "multifixed": ("stagelr", "stageiter"),
    "cosine": ("max_iter",),
}

_OF_FORKS = """min_lr plateau_winsize rampup_interval rampup_lr stageiter stagelr warmup_iter
    warmup_start_lr"""
FORK_FIELDS = frozenset(f"SolverParameter.{name}" for name in _OF_FORKS.split())

# With NumPy's numbers, which become inf or nan where Python's would raise: as C++'s do.
_RATES: dict[str, Callable[[SolverParameter, int, int], float]] = {
    "fixed": lambda p, i, s: p.base_lr,
    "step": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** (i // p.stepsize),
    "exp": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** i,
    "inv": lambda p, i, s: p.base_lr * np.float64(1 + p.gamma * i) ** -p.power,
    "multistep": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** s,
    "poly": lambda p, i, s: (
        p.min_lr + (p.base_lr - p.min_lr) * (1 - np.float64(i) / p.max_iter) ** p.power
    ),
    "sigmoid": lambda p, i, s: p.base_lr / (1 + np.exp(np.float64(-p.gamma) * (i - p.stepsize))),
    "plateau": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** s,
    "multifixed": lambda p, i, s: p.stagelr[min(bisect_left(p.stageiter, i), len(p.stageiter) - 1)],
    "cosine": lambda p, i, s: (
        p.min_lr + (p.base_lr - p.min_lr) * (1 + np.cos(np.pi * min(i / p.max_iter, 1))) / 2
    ),
}


def policy_problems(solver: SolverParameter) -> list[str]:
    """What is wrong with a solver's policy and its settings: Caffe's checks, and max_iter."""
    policy = solver.lr_policy
    if policy not in NEEDS:
        known = ", ".join(NEEDS)
        hint = did_you_mean(policy, NEEDS)
        return [f'lr_policy "{policy}" is not known{hint}; the policies are: {known}']
    problems = []
    if "gamma" in NEEDS[policy] and solver.gamma < 0:
        problems.append(f'lr_policy "{policy}" needs gamma >= 0, not {solver.gamma:g}')
    for name in ("stepsize", "max_iter"):
        if name in NEEDS[policy] and getattr(solver, name) <= 0:
            problems.append(f'lr_policy "{policy}" needs {name} > 0, not {getattr(solver, name)}')
    for name in ("plateau_winsize", "stagelr", "stageiter"):
        if name in NEEDS[policy] and not getattr(solver, name):
            problems.append(f'lr_policy "{policy}" needs {name}, which is not given')
    if policy == "multifixed" and len(solver.stagelr) != len(solver.stageiter):
        problems.append(
            f'lr_policy "multifixed" needs as many stagelr as stageiter, not '
            f"{len(solver.stagelr)} and {len(solver.stageiter)}"
        )
    return problems


def learning_rate(solver: SolverParameter, iteration: int, current_step: int) -> float:
    """The rate of an iteration; ``current_step`` stepvalues, or plateaus, have been passed."""
    problems = policy_problems(solver)
    if problems:
        raise NetError("\n".join(problems))
    if iteration < solver.warmup_iter:
        share = iteration / solver.warmup_iter
        return solver.warmup_start_lr + (solver.base_lr - solver.warmup_start_lr) * share
    if iteration < solver.rampup_interval:
        share = iteration / solver.rampup_interval
        return solver.rampup_lr + (solver.base_lr - solver.rampup_lr) * share**2
    with np.errstate(all="ignore"):
        rate = float(_RATES[solver.lr_policy](solver, iteration, current_step))
    return max(rate, solver.min_lr) if solver.HasField("min_lr") else rate


@dataclass
class Plateau:
    """When the rate falls because the loss does not: SSD's policy ``plateau``.

    An event is a new minimum of the smoothed loss, or a fall of the rate.  The rate falls for the
    s-th time when the last event is plateau_winsize[s] iterations ago.
    """

    minimum: float = 1e38
    last_event: int = 0

    def passed(self, windows: Sequence[int], step: int, iteration: int, loss: float) -> int:
        """How many plateaus have been passed after this loss, if it were ``step`` before it."""
        if loss < self.minimum:
            self.minimum, self.last_event = loss, iteration
        if step < len(windows) and iteration >= self.last_event + windows[step]:
            self.last_event = iteration
            return step + 1
        return step
