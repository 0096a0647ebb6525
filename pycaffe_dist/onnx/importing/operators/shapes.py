"""Operators that move values without changing them."""

from __future__ import annotations

from pycaffe_dist.onnx.importing.build import Builder, imports, ints
from pycaffe_dist.onnx.importing.model import Operator


@imports("Reshape", "Squeeze", "Unsqueeze")
def reshape(b: Builder, op: Operator) -> None:
    old, new = b.shape(op, op.inputs[0]), b.shape(op, op.outputs[0])
    if old == new:
        b.alias(op.outputs[0], op.inputs[0])
        return
    if len(new) == 2 and len(old) > 2 and old[0] == new[0]:
        b.simple("Flatten", op)
        return
    dims = b.simple("Reshape", op).reshape_param.shape.dim
    dims[:] = [0 if i == 0 and old and size == old[0] else size for i, size in enumerate(new)]


@imports("Flatten")
def flatten(b: Builder, op: Operator) -> None:
    """Always two axes: all before ``axis``, and all from it on."""
    shape = b.shape(op, op.inputs[0])
    if op.a.get("axis", 1) == 1:
        b.simple("Flatten", op)
        return
    new = b.shape(op, op.outputs[0])
    b.refuse(op, not shape, "has an input without axes")
    b.simple("Reshape", op).reshape_param.shape.dim[:] = new


@imports("Transpose")
def transpose(b: Builder, op: Operator) -> None:
    axes = len(b.shape(op, op.inputs[0]))
    order = [int(axis) for axis in op.a.get("perm", range(axes)[::-1])]
    if order == list(range(axes)):
        b.alias(op.outputs[0], op.inputs[0])
        return
    b.simple("Permute", op).permute_param.order[:] = order


@imports("Concat")
def concat(b: Builder, op: Operator) -> None:
    constant = [i for i in range(len(op.inputs)) if b.constant(op, i) is not None]
    b.refuse(op, bool(constant), "joins values with a constant")
    if len(op.inputs) == 1:  # Caffe's would share its memory, and be changed with it in place
        b.alias(op.outputs[0], op.inputs[0])
        return
    axis = op.a["axis"] % len(b.shape(op, op.inputs[0]))
    b.layer("Concat", b.named(op), op.inputs, op.outputs).concat_param.axis = axis


@imports("Split")
def split(b: Builder, op: Operator) -> None:
    axis = op.a.get("axis", 0) % len(b.shape(op, op.inputs[0]))
    sizes = [b.shape(op, name)[axis] for name in op.outputs]
    if len(sizes) == 1:
        b.alias(op.outputs[0], op.inputs[0])
        return
    p = b.layer("Slice", b.named(op), op.inputs[:1], op.outputs).slice_param
    p.axis = axis
    p.slice_point[:] = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    unread = [name for name in op.outputs if name not in b.model.consumers]
    if unread:
        b.layer("Silence", f"{b.named(op)}/unread", unread, [])


@imports("Slice")
def cut(b: Builder, op: Operator) -> None:
    shape = b.shape(op, op.inputs[0])
    begin, end = (
        ints(b.needed(op, i)) if len(op.inputs) > 1 else ints(op.a[name])
        for i, name in ((1, "starts"), (2, "ends"))
    )
    axes = b.constant(op, 3) if len(op.inputs) > 1 else op.a.get("axes")
    steps = b.constant(op, 4)
    where = [a % len(shape) for a in (ints(axes) if axes is not None else range(len(begin)))]
    by = ints(steps) if steps is not None else [1] * len(begin)
    p = b.simple("StridedSlice", op).strided_slice_param
    found = {
        axis: slice(*part).indices(shape[axis])
        for axis, part in zip(where, map(slice_of, begin, end, by), strict=True)
    }
    for axis, size in enumerate(shape):
        first, last, step = found.get(axis, (0, size, 1))
        p.begin.append(first)
        p.end.append(last)
        p.strides.append(step)
        if step < 0 and last < 0:
            p.end_mask |= 1 << axis


def slice_of(begin: int, end: int, step: int) -> tuple[int, int | None, int]:
    """ONNX says "to the very start" by a large negative end, as Python cannot."""
    return begin, None if step < 0 and end < -(1 << 30) else end, step


@imports("Gather")
def gather(b: Builder, op: Operator) -> None:
    indices = b.needed(op, 1)
    shape = b.shape(op, op.inputs[0])
    axis = op.a.get("axis", 0) % len(shape)
    p = b.simple("Gather", op).gather_param
    p.axis = axis
    p.indices[:] = [i % shape[axis] for i in ints(indices)]
    p.shape[:] = list(indices.shape) or [0]


@imports("Pad")
def pad(b: Builder, op: Operator) -> None:
    mode = op.a.get("mode", "constant")
    widths = ints(b.needed(op, 1)) if len(op.inputs) > 1 else ints(op.a["pads"])
    b.refuse(op, min(widths) < 0, f"cuts off: {widths}")
    b.refuse(op, mode != "constant", f"has the mode {mode}")
    value = b.constant(op, 2)
    half = len(widths) // 2
    if not any(widths):
        b.alias(op.outputs[0], op.inputs[0])
        return
    p = b.simple("Pad", op).pad_param
    p.paddings[:] = [n for pair in zip(widths[:half], widths[half:], strict=True) for n in pair]
    p.constant_values = float(op.a.get("value", 0.0) if value is None else value.reshape(()))


@imports("DepthToSpace", "SpaceToDepth")
def blocks(b: Builder, op: Operator) -> None:
    b.refuse(op, op.a.get("mode", "DCR") != "DCR", "has the mode CRD")
    layer = b.simple(op.kind, op)
    param = layer.depth_to_space_param if op.kind == "DepthToSpace" else layer.space_to_depth_param
    param.block_size, param.data_format = op.a["blocksize"], "NCHW"
