"""Learning-rate policies: how base_lr changes with the iteration.

fixed      base
step       base · γ^⌊iter / stepsize⌋
exp        base · γ^iter
inv        base · (1 + γ · iter)^(−power)
multistep  base · γ^(number of stepvalues passed)
poly       base · (1 − iter / max_iter)^power
sigmoid    base / (1 + e^(−γ (iter − stepsize)))

Of forks, and of today:

plateau     base · γ^(number of times that the loss has not fallen for plateau_winsize iterations)
multifixed  the stagelr of the first stageiter that is not passed, the last from then on
cosine      min + (base − min)/2 · (1 + cos(π · iter / max_iter)), min = min_lr

Before any policy: Intel's warm-up, from warmup_start_lr to base in warmup_iter iterations, linear;
or NVCaffe's, from rampup_lr in rampup_interval iterations, quadratic.  With ``min_lr`` poly ends
there, and no policy goes below it.

Momentum and weight decay have policies too, NVCaffe's; t = iter / max_iter:

momentum_policy      fixed; poly: μ + (max − μ)·t^power, max = max_momentum, 0.99 if not given;
                     opt: (1 − √rate / 2)², max_momentum at most if that is given
weight_decay_policy  fixed; poly: λ·t^power, or λ + (max − λ)·t^power with a max_weight_decay
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.strange import origin, telling
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
MOMENTUM, WEIGHT_DECAY = ("fixed", "poly", "opt"), ("fixed", "poly")
# What is read of the fields that forks added to solvers.
FORK_FIELDS = {
    f"SolverParameter.{name}"
    for name in [
        "plateau_winsize",
        "stagelr",
        "stageiter",
        "warmup_iter",
        "warmup_start_lr",
        "rampup_interval",
        "rampup_lr",
        "min_lr",
        "eval_type",
        "ap_version",
        "show_per_class_result",
        "larc",
        "larc_eta",
        "larc_policy",
        "momentum_policy",
        "max_momentum",
        "momentum_power",
        "weight_decay_policy",
        "weight_decay_power",
        "max_weight_decay",
        "ema_decay",
    ]
}

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
    "multifixed": lambda p, i, s: p.stagelr[
        min(int(np.searchsorted(p.stageiter, i)), len(p.stagelr) - 1)
    ],
    "cosine": lambda p, i, s: (
        p.min_lr + (p.base_lr - p.min_lr) / 2 * (1 + np.cos(np.pi * min(1, i / p.max_iter)))
    ),
}


def policy_problems(solver: SolverParameter) -> list[str]:
    """What is wrong with a solver's policy and its settings: Caffe's checks, and max_iter."""
    policy = solver.lr_policy
    if policy not in NEEDS:
        hint = did_you_mean(policy, NEEDS)
        names = ", ".join(NEEDS)
        return [f'lr_policy "{policy}" is not known{hint}; the policies are: {names}']
    problems = _momentum_problems(solver)
    if "gamma" in NEEDS[policy] and solver.gamma < 0:
        problems.append(f'lr_policy "{policy}" needs gamma >= 0, not {solver.gamma:g}')
    for name in ("stepsize", "max_iter"):
        if name in NEEDS[policy] and getattr(solver, name) <= 0:
            problems.append(f'lr_policy "{policy}" needs {name} > 0, not {getattr(solver, name)}')
    if policy == "multifixed" and not len(solver.stagelr) == len(solver.stageiter) > 0:
        problems.append(
            f'lr_policy "multifixed" needs as many stagelr as stageiter, '
            f"not {len(solver.stagelr)} and {len(solver.stageiter)}"
        )
    if solver.eval_type not in ("classification", "detection"):
        problems.append(f'eval_type is "classification" or "detection", not "{solver.eval_type}"')
    unread = [where for where in telling(solver) if where.startswith("SolverParameter.")]
    problems += [
        f"{where} is not supported; it comes from {origin(where)}"
        for where in unread
        if where not in FORK_FIELDS
    ]
    return problems


def _momentum_problems(solver: SolverParameter) -> list[str]:
    problems = []
    if solver.momentum_policy != "fixed" and solver.type not in ("SGD", "Nesterov"):
        problems.append(f"momentum_policy is for SGD and Nesterov, not for {solver.type}")
    for name, known in ("momentum", MOMENTUM), ("weight_decay", WEIGHT_DECAY):
        policy = getattr(solver, f"{name}_policy")
        if policy not in known:
            problems.append(f'{name}_policy "{policy}" is not known; there are: {", ".join(known)}')
        elif policy == "poly" and solver.max_iter <= 0:
            problems.append(f'{name}_policy "poly" needs max_iter > 0, not {solver.max_iter}')
    return problems


def momentum(p: SolverParameter, iteration: int, rate: float) -> float | None:
    """The momentum of an iteration that has this learning rate; None if it has no policy."""
    if p.momentum_policy == "poly":
        grown: float = (iteration / p.max_iter) ** p.momentum_power
        return p.momentum + (p.max_momentum - p.momentum) * grown
    if p.momentum_policy == "opt":
        best = (1 - math.sqrt(rate) / 2) ** 2
        return min(best, p.max_momentum) if p.HasField("max_momentum") else best
    return None


def weight_decay(p: SolverParameter, iteration: int) -> float:
    """The weight decay of an iteration."""
    if p.weight_decay_policy != "poly":
        return p.weight_decay
    first = p.weight_decay if p.max_weight_decay else 0.0
    grown: float = (iteration / p.max_iter) ** p.weight_decay_power
    return first + ((p.max_weight_decay or p.weight_decay) - first) * grown


def learning_rate(solver: SolverParameter, iteration: int, current_step: int) -> float:
    """The rate of an iteration; ``current_step`` is how many stepvalues multistep has passed."""
    problems = policy_problems(solver)
    if problems:
        raise NetError(*problems)
    with np.errstate(all="ignore"):
        rate = _warm_up(solver, iteration)
        if rate is None:
            rate = float(_RATES[solver.lr_policy](solver, iteration, current_step))
    return max(rate, solver.min_lr) if solver.min_lr else rate


def _warm_up(p: SolverParameter, iteration: int) -> float | None:
    """The rate while it rises to base_lr; None afterwards."""
    if iteration < p.warmup_iter:
        return p.warmup_start_lr + (p.base_lr - p.warmup_start_lr) * iteration / p.warmup_iter
    if iteration < p.rampup_interval:
        share = iteration / p.rampup_interval
        return p.rampup_lr + (p.base_lr - p.rampup_lr) * share * share
    return None


class Plateau:
    """When the rate falls because the loss does not: SSD's policy.

    An event is a new minimum of the smoothed loss, or a fall of the rate.  The rate falls for the
    s-th time when the last event is plateau_winsize[s] iterations ago.
    """

    def __init__(self) -> None:
        self.minimum_loss, self.last_event = 1e38, 0

    def due(self, solver: SolverParameter, iteration: int, loss: float, step: int) -> bool:
        """Take a loss; whether the rate falls now, for the ``step``-th time."""
        if loss < self.minimum_loss:
            # Of the precision that a snapshot keeps.
            self.minimum_loss, self.last_event = float(np.float32(loss)), iteration
        windows = solver.plateau_winsize
        if step >= len(windows) or iteration < self.last_event + windows[step]:
            return False
        self.last_event = iteration
        return True
