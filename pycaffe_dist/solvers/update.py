"""ApplyUpdate: clip, normalise, regularise, the rule, and the weights, in Caffe's order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import Array
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import BLOCK, Rule


def gradient_norm(params: Sequence[Param]) -> float:
    """√(Σ ‖g‖²) over all learnable parameters."""
    return math.sqrt(sum(float(np.vdot(p.blob.diff, p.blob.diff)) for p in params))


def clip(params: Sequence[Param], limit: float) -> tuple[float, float] | None:
    """Scale all gradients so that their norm is ``limit``; (norm, scale) if that was needed."""
    norm = gradient_norm(params)
    if norm <= limit:
        return None
    scale = limit / norm
    for param in params:
        param.blob.diff[...] *= scale
    return norm, scale


def apply(
    param: Param, history: Sequence[Blob], rule: Rule, solver: SolverParameter, rate: float
) -> None:
    """Update one parameter; its diff then holds what was taken off its data."""
    dtype: Any = param.blob.dtype.type
    data, diff = param.blob.data.reshape(-1), param.blob.diff.reshape(-1)
    past = [blob.data.reshape(-1) for blob in history]
    work = np.empty(min(BLOCK, data.size), param.blob.dtype)
    decay = solver.weight_decay * param.decay_mult
    sign = _is_l1(solver) if decay else False
    local_rate = dtype(rate * param.lr_mult)
    share = dtype(1.0 / solver.iter_size)
    for begin in range(0, data.size, BLOCK):
        w, g = data[begin : begin + BLOCK], diff[begin : begin + BLOCK]
        room = work[: g.size]
        if solver.iter_size != 1:
            g *= share
        if decay:
            _regularise(w, g, dtype(decay), sign, room)
        rule.step(g, [h[begin : begin + BLOCK] for h in past], local_rate, room)
        w -= g


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
