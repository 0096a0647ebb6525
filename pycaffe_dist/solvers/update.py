"""ApplyUpdate: clip, normalise, regularise, the rule, and the weights, in Caffe's order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.engines.base import NUMPY, Engine, Loss
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import HOST, Home, Value
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.policies import momentum, weight_decay
from pycaffe_dist.solvers.rules import BLOCK, Rule
from pycaffe_dist.threads import flush_denormals, run, shares
from pycaffe_dist.update_step import ParamValues, UpdateStep


def waits(solver: SolverParameter, rule: Rule, scales_loss: bool = False) -> str:
    """Why no part of the weights may be updated before all gradients are there; "" if it may.

    ``scales_loss``: whether gradients may overflow.
    """
    if scales_loss:
        return "with fp16 a step is left out if any gradient of any rank has overflowed"
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
    on_device = engine.clip(params, limit) if params else None
    if on_device is not None:
        return on_device
    norm = gradient_norm(params)
    if norm <= limit:
        return None
    scale = limit / norm
    for param in params:
        param.blob.diff[...] *= scale
    return norm, scale


def step_of(solver: SolverParameter, rule: Rule, iteration: int, rate: float) -> UpdateStep:
    """The update of an iteration."""
    return UpdateStep(
        iteration,
        rate,
        solver.iter_size,
        weight_decay(solver, iteration),
        solver.regularization_type,
        solver.clip_gradients,
        rule.correction(iteration),
        momentum(solver, iteration, rate),
    )


def apply(
    params: Sequence[Param],
    history: Iterable[Mapping[str, Blob]],
    rule: Rule,
    step: UpdateStep,
    engine: Engine = NUMPY,
) -> None:
    """Update parameters; their diffs then hold what was taken off their data."""
    on_device = engine.updates(rule)
    home = engine.home if on_device else HOST
    pairs = zip(params, history, strict=True)
    values = [_values(param.blob, past, home) for param, past in pairs]
    if on_device:
        engine.update_all(values, [(p.lr_mult, p.decay_mult) for p in params], rule, step)
        return
    for param, own in zip(params, values, strict=True):
        apply_to(param, own, rule, step, engine)


def _values(blob: Blob, history: Mapping[str, Blob], home: Home) -> ParamValues:
    """A parameter's values in a home, to be changed."""

    def flat(value: Value) -> Array:
        return value.write(home)[: blob.count]

    past = {slot: flat(kept.data_value) for slot, kept in history.items()}
    return ParamValues(flat(blob.data_value), flat(blob.diff_value), past)


def apply_to(
    param: Param, values: ParamValues, rule: Rule, step: UpdateStep, engine: Engine = NUMPY
) -> None:
    """Update some values of a parameter.

    They are in the engine's home if it knows the rule, else plain arrays.
    """
    local = step.times(param.lr_mult, param.decay_mult)
    if engine.updates(rule):
        engine.update(values, rule, local)
        return
    if step.gate is not None:
        if not float(step.gate[0]):
            values.diff[...] = 0
            return
        local = replace(local, gate=None)
    dtype: type = param.blob.dtype.type
    if rule.scales_update:
        local = replace(local, rate=1.0)
    elif rule.whole:
        gradient = values.diff if step.iter_size == 1 else values.diff * dtype(step.share)
        local = replace(local, rate=rule.local_rate(step, param, values.data, gradient))
    local = replace(local, rate=dtype(local.rate))
    with flush_denormals():
        work = BlockUpdate(rule, local)
        arrays = values.data, values.diff, *values.history.values()
        if not engine.one_pass(work, arrays, rooms=1):
            parts = shares(values.data.size, BLOCK)
            run(lambda part: _in_blocks(work, [array[part] for array in arrays]), parts)
        if rule.scales_update:
            values.diff[...] *= dtype(rule.local_rate(step, param, values.data, values.diff))
            values.data[...] -= values.diff


@dataclass(frozen=True)
class BlockUpdate:
    """Normalise, regularise, the rule and the subtraction, for one block of a parameter.

    Called with its data, gradients and history, and a room of the same size; element by element,
    so that an engine may make one pass of it.
    """

    rule: Rule
    step: UpdateStep

    def __call__(self, w: Array, g: Array, *past: Array) -> None:
        *history, room = past
        rule, step, dtype = self.rule, self.step, g.dtype.type
        decay, sign = dtype(step.decay), step.l1
        if step.iter_size != 1:
            g *= dtype(step.share)
        if step.decay and not rule.decoupled:
            _regularise(w, g, decay, sign, room)
        rule.step(g, dict(zip(rule.slots, history, strict=True)), step, room)
        if step.decay and rule.decoupled:
            _regularise(w, g, step.rate * decay, sign, room)
        if not rule.scales_update:
            w -= g


def _in_blocks(work: BlockUpdate, arrays: Sequence[Array]) -> None:
    """Blocks stay in the cache."""
    count = arrays[0].size
    room = np.empty(min(BLOCK, count), arrays[0].dtype)
    for begin in range(0, count, BLOCK):
        block = [array[begin : begin + BLOCK] for array in arrays]
        work(*block, room[: block[0].size])


def _regularise(w: Array, g: Array, decay: np.generic, sign: bool, work: Array) -> None:
    """L2: g += λw;  L1: g += λ·sign(w)"""
    if sign:
        np.sign(w, out=work)
        work *= decay
    else:
        np.multiply(w, decay, out=work)
    g += work
