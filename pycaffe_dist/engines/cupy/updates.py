"""Solver updates on the device: one launch for all parameters, whatever is done with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.cupy.scalar import Scalar
from pycaffe_dist.memory import Value
from pycaffe_dist.update_step import Multipliers, ParamValues, UpdateStep

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

# By rule: the kernel, and its settings between the rate and the share.
RULES: dict[str, tuple[str, Callable[[DeviceArray, UpdateStep], tuple[float, ...]]]] = {
    "SGD": ("sgd_update", lambda r, step: (r.momentum_of(step),)),
    "Nesterov": ("nesterov_update", lambda r, step: (r.momentum_of(step),)),
    "AdaGrad": ("adagrad_update", lambda r, _: (r.delta,)),
    "RMSProp": ("rmsprop_update", lambda r, _: (r.delta, r.decay, 1 - r.decay)),
    "AdaDelta": ("adadelta_update", lambda r, _: (r.delta, r.momentum, 1 - r.momentum)),
    "Adam": (
        "adam_update",
        lambda r, _: (r.delta, r.momentum, 1 - r.momentum, r.momentum2, 1 - r.momentum2),
    ),
}


def update(engine: CupyEngine, values: ParamValues, rule: Any, step: UpdateStep) -> None:
    """Normalise, regularise, the rule and the subtraction; nothing if the step's gate is 0."""
    kernel, numbers = _kernel(rule, step)
    data = values.data
    arrays = _gate(engine, data.dtype, step), data, values.diff, *values.history.values()
    engine.launch(kernel, data.dtype, data.size, *numbers, *arrays)


def update_all(
    engine: CupyEngine,
    params: Sequence[ParamValues],
    multipliers: Sequence[Multipliers],
    rule: Any,
    step: UpdateStep,
) -> None:
    """The same for all of them, each with its lr_mult and decay_mult."""
    if not params:
        return
    engine.enter()
    kernel, numbers = _kernel(rule, step)
    slots = zip(*(p.history.values() for p in params), strict=True)
    table = engine.tables.of([p.data for p in params], [p.diff for p in params], *slots)
    dtype = params[0].data.dtype
    factors = engine.constant(np.array(multipliers, dtype))
    given = table.chunks, factors, _gate(engine, dtype, step), *table.addresses
    engine.launch(f"{kernel}_all", dtype, table.rows, *numbers, *given)


def _gate(engine: CupyEngine, dtype: DType, step: UpdateStep) -> DeviceArray:
    return engine.one(dtype) if step.gate is None else step.gate


def _kernel(rule: Any, step: UpdateStep) -> tuple[str, tuple[float, ...]]:
    """The kernel of an update, and its numbers."""
    kernel, settings = RULES[rule.type]
    rate = step.rate * step.correction
    l1 = bool(step.decay) and step.l1
    return kernel, (rate, *settings(rule, step), step.share, step.decay, l1)


def clear(engine: CupyEngine, values: Sequence[Value]) -> None:
    """Make all of them zeros."""
    home = engine.home
    for value in values:
        if not value.lives_in(home):
            value.zero()  # until somebody asks for it, it needs no memory
    engine.enter()
    rooms = [value.replace(home) for value in values if value.lives_in(home)]
    if rooms:
        table = engine.tables.of(rooms)
        engine.launch("clear_all", rooms[0].dtype, table.rows, table.chunks, *table.addresses)


def unscale(
    engine: CupyEngine, values: Sequence[Value], scale: DeviceArray, bad: DeviceArray
) -> None:
    """Divide gradients by the loss's scale, and tell whether one of them is no number."""
    rooms = [value.write(engine.home)[: value.count] for value in values]
    if rooms:
        table = engine.tables.of(rooms)
        arrays = table.chunks, scale, *table.addresses, bad
        engine.launch("unscale_all", rooms[0].dtype, table.rows, *arrays)


def clip(engine: CupyEngine, params: Sequence[DeviceArray], limit: float) -> tuple[Scalar, Scalar]:
    """Scale all gradients so that their norm is at most ``limit``; the norm, and the scale."""
    engine.enter()
    dtype = params[0].blob.dtype
    gradients = [p.blob.diff_value.write(engine.home)[: p.blob.count] for p in params]
    table = engine.tables.of(gradients)
    scale, norm = (engine.spare(name, (1,), dtype) for name in ("scale", "norm"))
    partial = engine.spare("partial", (table.rows,), dtype)
    sums = partial, engine.tickets(1), scale, norm
    engine.launch("gradient_norm", dtype, table.rows, limit, table.chunks, *table.addresses, *sums)
    engine.launch("scale_all", dtype, table.rows, table.chunks, scale, *table.addresses)
    return Scalar(engine, norm), Scalar(engine, scale)
