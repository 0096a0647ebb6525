"""Operators that make one value of several, or find the largest."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.onnx.importing.build import Builder, imports, ints
from pycaffe_dist.onnx.importing.model import Operator
from pycaffe_dist.proto.caffe_pb2 import ReductionParameter

PLAIN = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd")
SUMS = ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum")  # sums of something else
# Those that a Reduction does along the last axes.
REDUCTIONS = {
    "ReduceMean": ReductionParameter.MEAN,
    "ReduceSum": ReductionParameter.SUM,
    "ReduceL1": ReductionParameter.ASUM,
    "ReduceSumSquare": ReductionParameter.SUMSQ,
}


@imports(*PLAIN, *SUMS)
def reduce(b: Builder, op: Operator) -> None:
    shape = b.shape(op, op.inputs[0])
    given = b.constant(op, 1)
    axes = ints(op.a.get("axes", ()) if given is None else given)
    if not axes and op.a.get("noop_with_empty_axes", 0):
        b.refuse(op, op.kind in SUMS, "has noop_with_empty_axes, and no axes")
        b.alias(op.outputs[0], op.inputs[0])
        return
    axes = sorted(axis % len(shape) for axis in axes or range(len(shape)))
    keep = bool(op.a.get("keepdims", 1))
    if op.kind == "ReduceMean" and axes == [2, 3] and len(shape) == 4:
        _pool(b, op, shape, keep)
    elif op.kind in REDUCTIONS and not keep and axes == [*range(axes[0], len(shape))]:
        p = b.simple("Reduction", op).reduction_param
        p.operation, p.axis = REDUCTIONS[op.kind], axes[0]
    elif op.kind in SUMS:
        _sum_of_others(b, op, axes, keep)
    else:
        _layer(b, op, op.kind, b.named(op), op.inputs[0], op.outputs[0], axes, keep)


def _pool(b: Builder, op: Operator, shape: Sequence[int], keep: bool) -> None:
    target = op.outputs[0] if keep else b.between(op, "pooled", (*shape[:2], 1, 1))
    p = b.layer("Pooling", b.named(op), op.inputs[:1], [target]).pooling_param
    p.pool, p.global_pooling = p.AVE, True
    if not keep:
        b.layer("Flatten", f"{b.named(op)}/flat", [target], op.outputs)


def _layer(
    b: Builder,
    op: Operator,
    kind: str,
    name: str,
    source: str,
    target: str,
    axes: Sequence[int],
    keep: bool,
) -> None:
    layer = b.layer(kind, name, [source], [target])
    param = getattr(layer, f"reduce_{kind[6:].lower()}_param")
    param.axis[:], param.keepdims = axes, keep


def _sum_of_others(b: Builder, op: Operator, axes: Sequence[int], keep: bool) -> None:
    """Of magnitudes or squares; of the sum, the root or the logarithm."""
    source, target, name = op.inputs[0], op.outputs[0], b.named(op)
    shape = b.shape(op, source)
    ends = op.kind in ("ReduceL2", "ReduceLogSum")
    if op.kind != "ReduceLogSum":
        other = b.between(op, "terms", shape)
        kind = "AbsVal" if op.kind == "ReduceL1" else "Power"
        layer = b.layer(kind, f"{name}/terms", [source], [other])
        if kind == "Power":
            layer.power_param.power = 2
        source = other
    total = b.between(op, "sum", b.shape(op, target)) if ends else target
    _layer(b, op, "ReduceSum", f"{name}/sum" if ends else name, source, total, axes, keep)
    if ends:
        layer = b.layer("Power" if op.kind == "ReduceL2" else "Log", name, [total], [target])
        if op.kind == "ReduceL2":
            layer.power_param.power = 0.5


@imports("ArgMax")
def argmax(b: Builder, op: Operator) -> None:
    """Of equal values ONNX takes the first, Caffe the last."""
    shape = b.shape(op, op.inputs[0])
    axis, keep = op.a.get("axis", 0) % len(shape), bool(op.a.get("keepdims", 1))
    places = op.outputs[0]
    if not keep:
        places = b.between(op, "places", (*shape[:axis], 1, *shape[axis + 1 :]))
    name = b.named(op) if keep else f"{b.named(op)}/places"
    b.layer("ArgMax", name, op.inputs[:1], [places]).argmax_param.axis = axis
    if not keep:
        layer = b.layer("Reshape", b.named(op), [places], op.outputs)
        layer.reshape_param.shape.dim[:] = b.shape(op, op.outputs[0])


@imports("TopK")
def top_k(b: Builder, op: Operator) -> None:
    """The values, and their places, in two layers; of equal values Caffe takes the last."""
    b.refuse(op, not op.a.get("largest", 1), "takes the smallest")
    shape, count = b.shape(op, op.inputs[0]), ints(op.a.get("k", ()) or b.needed(op, 1))[0]
    for i, name in enumerate(op.outputs):
        if name not in b.model.consumers:
            continue
        p = b.layer("ArgMax", b.named(op), op.inputs[:1], [name]).argmax_param
        p.axis, p.top_k = op.a.get("axis", -1) % len(shape), count
        p.out_max_val = i == 0
