"""ApplyUpdate: clip, normalise, regularise, the rule, and the weights, in Caffe's order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.engines.base import NUMPY, Engine, Loss
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import HOST, Array
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import BLOCK, Rule
from pycaffe_dist.threads import flush_denormals, run, shares


def waits(solver: SolverParameter, rule: Rule) -> str:
    """Why no part of the weights may be updated before all gradients are there; "" if it may."""
    if solver.clip_gradients >= 0:
        return "clip_gradients needs the norm of the whole gradient"
    if solver.lr_policy == "plateau":
        return 'lr_policy "plateau" needs the loss of all ranks'
    if rule.whole:
        who = "larc" if solver.larc else rule.type
        return f"{who} needs the norms of whole parameters and of their gradients"
    return ""


def gradient_norm(params: Sequence[Param]) -> float:
    """√(Σ ‖g‖²) over all learnable parameters."""
    return math.sqrt(sum(float(np.vdot(p.blob.diff, p.blob.diff)) for p in params))


def clip(params: Sequence[Param], limit: float, engine: Engine = NUMPY) -> tuple[Loss, Loss] | None:
    """Scale all gradients so that their norm is at most ``limit``; (norm, scale), or None.

    None says that nothing was to be done; where the norm is on a device, nobody knows yet.
    """
    on_device = engine.clip(params, limit)
    if on_device is not None:
        return on_device
    norm = gradient_norm(params)
    if norm <= limit:
        return None
    scale = limit / norm
    for param in params:
        param.blob.diff[...] *= scale
    return norm, scale


def apply(
    param: Param,
    history: Sequence[Blob],
    rule: Rule,
    solver: SolverParameter,
    rate: float,
    engine: Engine = NUMPY,
) -> None:
    """Update one parameter; its diff then holds what was taken off its data."""
    home = engine.home if engine.updates(rule) else HOST
    blob = param.blob
    values = blob.data_value, blob.diff_value, *(past.data_value for past in history)
    data, diff, *past = (value.write(home)[: blob.count] for value in values)
    apply_to(param, data, diff, past, rule, solver, rate, engine)


def apply_to(
    param: Param,
    data: Any,
    diff: Any,
    past: Sequence[Any],
    rule: Rule,
    solver: SolverParameter,
    rate: float,
    engine: Engine = NUMPY,
) -> None:
    """Update some values of a parameter, given with their gradients and history as flat arrays.

    The arrays are in the engine's home if it knows the rule, else plain ones.
    """
    dtype: Any = param.blob.dtype.type
    decay = solver.weight_decay * param.decay_mult
    sign = _is_l1(solver) if decay else False
    share = 1.0 / solver.iter_size
    if engine.updates(rule):
        engine.update(data, diff, past, rule, rate * param.lr_mult, share, decay, sign)
        return
    if rule.whole and not rule.scales_update:
        rate = rule.local_rate(rate, param.lr_mult, data, diff * dtype(share), decay)
    elif not rule.scales_update:
        rate *= param.lr_mult
    local_rate = dtype(1 if rule.scales_update else rate)

    def update(part: slice) -> None:
        work = np.empty(min(BLOCK, part.stop - part.start), param.blob.dtype)
        for begin in range(part.start, part.stop, BLOCK):
            block = slice(begin, min(begin + BLOCK, part.stop))
            w, g, room = data[block], diff[block], work[: block.stop - begin]
            if solver.iter_size != 1:
                g *= dtype(share)
            if decay and not rule.decoupled:
                _regularise(w, g, dtype(decay), sign, room)
            rule.step(g, [h[block] for h in past], local_rate, room)
            if decay and rule.decoupled:
                _regularise(w, g, local_rate * dtype(decay), sign, room)
            if not rule.scales_update:
                w -= g

    with flush_denormals():
        run(update, shares(data.size, BLOCK))
        if rule.scales_update:
            diff *= dtype(rule.local_rate(rate, param.lr_mult, data, diff, decay))
            data -= diff


def _is_l1(solver: SolverParameter) -> bool:
    if solver.regularization_type not in ("L1", "L2"):
        raise NetError(f'regularization_type is "L1" or "L2", not "{solver.regularization_type}"')
    return solver.regularization_type == "L1"


def _regularise(w: Array, g: Array, decay: np.generic, sign: bool, work: Array) -> None:
    """L2: g += λw;  L1: g += λ·sign(w)"""
    if sign:
        np.sign(w, out=work)
        work *= decay
    else:
        np.multiply(w, decay, out=work)
    g += work
