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
    rows, shape = b.constant(op, 0), b.shape(op, op.inputs[0])
    if rows is not None and rows.ndim == 2 and not op.a.get("axis", 0):
        p = b.layer("Embed", b.named(op), op.inputs[1:], op.outputs, [rows]).embed_param
        p.input_dim, p.num_output = rows.shape
        p.bias_term = False
        return
    axis = op.a.get("axis", 0) % len(shape)
    if not axis and b.constant(op, 1) is None and len(b.shape(op, op.inputs[1])) == 1:
        b.layer("BatchReindex", b.named(op), op.inputs, op.outputs)
        return
    indices = b.needed(op, 1)
    g = b.simple("Gather", op).gather_param
    g.axis = axis
    g.indices[:] = [i % shape[axis] for i in ints(indices)]
    g.shape[:] = list(indices.shape) or [0]


MIRRORS = {"edge": "EDGE", "reflect": "REFLECT"}


@imports("Pad")
def pad(b: Builder, op: Operator) -> None:
    """Negative padding cuts off."""
    mode, x = op.a.get("mode", "constant"), op.inputs[0]
    shape = b.shape(op, x)
    margins = _margins(b, op, len(shape))
    known = mode == "constant" or mode in MIRRORS
    b.refuse(op, not known, f"has the mode {mode}")
    if not any(n for pair in margins for n in pair):
        b.alias(op.outputs[0], x)
        return
    if any(n < 0 for pair in margins for n in pair):
        b.refuse(op, mode != "constant", f"cuts off with the mode {mode}")
        x, margins = _cut_off(b, op, x, margins)
        if x == op.outputs[0]:
            return
    value = b.constant(op, 2)
    layer = b.layer("MirrorPad" if mode in MIRRORS else "Pad", b.named(op), [x], op.outputs)
    p = layer.mirror_pad_param if mode in MIRRORS else layer.pad_param
    p.paddings[:] = [n for pair in margins for n in pair]
    if mode in MIRRORS:
        layer.mirror_pad_param.mode = MIRRORS[mode]
    else:
        p.constant_values = float(op.a.get("value", 0.0) if value is None else value.reshape(()))


def _margins(b: Builder, op: Operator, count: int) -> list[tuple[int, int]]:
    """Before and behind, for each axis; those that ``axes`` leaves out have none."""
    widths = ints(b.needed(op, 1)) if len(op.inputs) > 1 else ints(op.a["pads"])
    given = b.constant(op, 3)
    axes = [a % count for a in (range(count) if given is None else ints(given))]
    half = len(widths) // 2
    pairs = dict(zip(axes, zip(widths[:half], widths[half:], strict=True), strict=True))
    return [pairs.get(axis, (0, 0)) for axis in range(count)]


def _cut_off(
    b: Builder, op: Operator, x: str, margins: list[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """A slice of x, and what remains to be put around it."""
    shape = b.shape(op, x)
    kept = [(max(0, -m), n + min(0, k)) for n, (m, k) in zip(shape, margins, strict=True)]
    b.refuse(op, any(first >= last for first, last in kept), f"leaves nothing of {shape}")
    rest = [(max(0, m), max(0, k)) for m, k in margins]
    more = any(n for pair in rest for n in pair)
    target = b.between(op, "cut", [n - m for m, n in kept]) if more else op.outputs[0]
    name = f"{b.named(op)}/cut" if more else b.named(op)
    p = b.layer("StridedSlice", name, [x], [target]).strided_slice_param
    p.begin[:], p.end[:] = [m for m, _ in kept], [n for _, n in kept]
    p.strides[:] = [1] * len(kept)
    return target, rest


@imports("DepthToSpace", "SpaceToDepth")
def blocks(b: Builder, op: Operator) -> None:
    if op.a.get("mode", "DCR") == "CRD":
        _pixel_shuffle(b, op)
        return
    layer = b.simple(op.kind, op)
    param = layer.depth_to_space_param if op.kind == "DepthToSpace" else layer.space_to_depth_param
    param.block_size, param.data_format = op.a["blocksize"], "NCHW"


def _pixel_shuffle(b: Builder, op: Operator) -> None:
    """Channels are (C, rows, columns) of a block: (N, C, r, r, H, W) to (N, C, H, r, W, r)."""
    (n, c, h, w), r = b.shape(op, op.inputs[0]), op.a["blocksize"]
    apart, turned = (n, c // (r * r), r, r, h, w), (n, c // (r * r), h, r, w, r)
    names = [b.between(op, "apart", apart), b.between(op, "turned", turned)]
    first = b.layer("Reshape", f"{b.named(op)}/apart", op.inputs[:1], names[:1])
    first.reshape_param.shape.dim[:] = [0, *apart[1:]]
    turn = b.layer("Permute", f"{b.named(op)}/turned", names[:1], names[1:])
    turn.permute_param.order[:] = [0, 1, 4, 2, 5, 3]
    last = b.layer("Reshape", b.named(op), names[1:], op.outputs)
    last.reshape_param.shape.dim[:] = [0, *b.shape(op, op.outputs[0])[1:]]


@imports("Expand", "Tile")
def tile(b: Builder, op: Operator) -> None:
    """Copies along each axis that becomes longer."""
    new = b.shape(op, op.outputs[0])
    spread(b, op, op.inputs[0], new, op.outputs[0])


def spread(b: Builder, op: Operator, x: str, new: tuple[int, ...], target: str = "") -> str:
    """x with as many axes as ``new`` and its sizes: ones in front, and a Tile for each that grows.

    The name of the result, which is ``target`` if that is given.
    """
    shape, name = b.shape(op, x), f"{b.named(op)}/{x}"
    full = (1,) * (len(new) - len(shape)) + shape
    fits = len(full) == len(new) and all(s and n % s == 0 for s, n in zip(full, new, strict=True))
    b.refuse(op, not fits, f"spreads {shape} over {new}")
    steps: list[tuple[str, tuple[int, ...], int]] = [("Reshape", full, 0)] * (full != shape)
    for axis, size in enumerate(new):
        if size != full[axis]:
            full = (*full[:axis], size, *full[axis + 1 :])
            steps.append(("Tile", full, axis))
    if not steps and target:
        b.alias(target, x)
    for i, (kind, made, axis) in enumerate(steps):
        last = bool(target) and i == len(steps) - 1
        top = target if last else b.between(op, f"{x}/{i}", made)
        layer = b.layer(kind, b.named(op) if last else f"{name}/{i}", [x], [top])
        if kind == "Reshape":
            layer.reshape_param.shape.dim[:] = made
        else:
            layer.tile_param.axis = axis
            layer.tile_param.tiles = made[axis] // b.shape(op, x)[axis]
        x = top
    return target or x
