"""Solver updates on the device: one kernel a rule, and the norm for clipping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.cupy.launch import split
from pycaffe_dist.engines.cupy.scalar import Scalar
from pycaffe_dist.update_step import ParamValues, UpdateStep

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
    kernel, settings = RULES[rule.type]
    rate = step.rate * step.correction
    numbers = rate, *settings(rule, step), step.share, step.decay, bool(step.decay) and step.l1
    data = values.data
    gate = engine.one(data.dtype) if step.gate is None else step.gate
    arrays = gate, data, values.diff, *values.history.values()
    engine.launch(kernel, data.dtype, data.size, *numbers, *arrays)


def clip(engine: CupyEngine, params: Sequence[DeviceArray], limit: float) -> tuple[Scalar, Scalar]:
    """Scale all gradients so that their norm is at most ``limit``; the norm, and the scale."""
    dtype = params[0].blob.dtype
    total, scale, norm = (engine.spare(name, (1,), dtype) for name in ("total", "scale", "norm"))
    total.fill(0)
    rooms = [(p.blob.diff_value.write(engine.home), p.blob.count) for p in params]
    for g, count in rooms:
        splits = split(count, 1)
        partial = engine.spare("partial", (splits,), dtype)
        engine.launch("channel_dots", dtype, splits, splits, 1, 1, count, g, g, partial)
        engine.launch("finish_sums", dtype, 1, splits, 1, 1, partial, total)
    engine.launch("clip_scale", dtype, 1, limit, total, scale, norm)
    for g, count in rooms:
        engine.launch("scale_by", dtype, count, 1, scale, g, g)
    return Scalar(engine, norm), Scalar(engine, scale)
