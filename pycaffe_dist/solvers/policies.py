"""Learning-rate policies: how base_lr changes with the iteration.

fixed      base
step       base · γ^⌊iter / stepsize⌋
exp        base · γ^iter
inv        base · (1 + γ · iter)^(−power)
multistep  base · γ^(number of stepvalues passed)
poly       base · (1 − iter / max_iter)^power
sigmoid    base / (1 + e^(−γ (iter − stepsize)))
"""

from __future__ import annotations

from collections.abc import Callable

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
}

# With NumPy's numbers, which become inf or nan where Python's would raise: as C++'s do.
_RATES: dict[str, Callable[[SolverParameter, int, int], float]] = {
    "fixed": lambda p, i, s: p.base_lr,
    "step": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** (i // p.stepsize),
    "exp": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** i,
    "inv": lambda p, i, s: p.base_lr * np.float64(1 + p.gamma * i) ** -p.power,
    "multistep": lambda p, i, s: p.base_lr * np.float64(p.gamma) ** s,
    "poly": lambda p, i, s: p.base_lr * (1 - np.float64(i) / p.max_iter) ** p.power,
    "sigmoid": lambda p, i, s: p.base_lr / (1 + np.exp(np.float64(-p.gamma) * (i - p.stepsize))),
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
    return problems


def learning_rate(solver: SolverParameter, iteration: int, current_step: int) -> float:
    """The rate of an iteration; ``current_step`` is how many stepvalues multistep has passed."""
    problems = policy_problems(solver)
    if problems:
        raise NetError("\n".join(problems))
    with np.errstate(all="ignore"):
        return float(_RATES[solver.lr_policy](solver, iteration, current_step))
