"""ONNX's LSTM as layers: one for each direction, with the parts of its weights in Caffe's order."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.model import Operator

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@imports("LSTM")
def lstm(b: Builder, op: Operator) -> None:
    """x: (T, N, I) to y: (T, directions, N, D), and its last steps: (directions, N, D)."""
    size, name = op.a["hidden_size"], b.named(op)
    ways = DIRECTIONS[op.a.get("direction", "forward")]
    _check(b, op, len(ways))
    steps, streams, _ = b.shape(op, op.inputs[0])
    weights, recurrence = b.needed(op, 1), b.needed(op, 2)
    rows = (len(ways), 4 * size)
    b.refuse(op, weights.shape[:2] != rows, f"has weights {weights.shape} for {rows} rows")
    bias = b.constant(op, 3)
    cont = b.between(op, "cont", (steps, streams))
    p = b.layer("ContinuationIndicator", f"{name}/cont", [], [cont]).continuation_indicator_param
    p.time_step, p.batch_size = steps, streams
    outs = []
    for i, backwards in enumerate(ways):
        part = f"{name}/{'backward' if backwards else 'forward'}"
        x = _turned(b, op, op.inputs[0], f"{part}/in") if backwards else op.inputs[0]
        both = np.zeros(8 * size, np.float32) if bias is None else bias[i]
        values = [weights[i], both[: 4 * size] + both[4 * size :], recurrence[i]]
        y = b.between(op, f"{part}/out", (steps, streams, size))
        layer = b.layer("LSTM", part, [x, cont], [y], [_ordered(v, size) for v in values])
        layer.recurrent_param.num_output = size
        outs.append((backwards, y))
    if _is_read(b, op, 1):
        lasts = [_last(b, op, y, f"last{i}") for i, (_, y) in enumerate(outs)]
        _joined(b, op, lasts, op.outputs[1], 0)
    if _is_read(b, op, 0):
        parts = [_turned(b, op, y, f"{y}/turned") if back else y for back, y in outs]
        _joined(b, op, parts, op.outputs[0], 1)


def _is_read(b: Builder, op: Operator, i: int) -> bool:
    return len(op.outputs) > i and op.outputs[i] in b.model.consumers


def _last(b: Builder, op: Operator, y: str, what: str) -> str:
    """The last step of those that were taken: (N, D)."""
    steps, *shape = b.shape(op, y)
    name = b.between(op, what, shape)
    p = b.layer("Gather", f"{b.named(op)}/{what}", [y], [name]).gather_param
    p.axis, p.indices[:], p.shape[:] = 0, [steps - 1], [0]
    return name


def _joined(b: Builder, op: Operator, parts: list[str], target: str, axis: int) -> None:
    """The directions, along an axis of their own."""
    name = f"{b.named(op)}/{'axis' if axis else 'last'}"
    shape = list(b.shape(op, parts[0]))
    shape.insert(axis, 1)
    shaped = [b.between(op, f"{name}{i}", shape) for i in range(len(parts))]
    targets = shaped if len(parts) > 1 else [target]
    for i, (part, top) in enumerate(zip(parts, targets, strict=True)):
        layer = b.layer("Reshape", f"{name}{i}", [part], [top])
        layer.reshape_param.shape.dim[:] = shape
    if len(parts) > 1:
        b.layer("Concat", f"{name}/both", shaped, [target]).concat_param.axis = axis


def _check(b: Builder, op: Operator, ways: int) -> None:
    b.refuse(op, _is_read(b, op, 2), "has a last cell that is read")
    b.refuse(op, bool(op.a.get("layout", 0)), "has layout 1")
    b.refuse(op, bool(op.a.get("input_forget", 0)), "has input_forget")
    b.refuse(op, "clip" in op.a, "has clip")
    usual = ["Sigmoid", "Tanh", "Tanh"] * ways
    given = [a.decode() if isinstance(a, bytes) else a for a in op.a.get("activations", usual)]
    b.refuse(op, given != usual, f"has the activations {given}")
    for i, what in (
        (4, "sequence lengths"),
        (5, "a first state"),
        (6, "a first cell"),
        (7, "peepholes"),
    ):
        values = b.constant(op, i)
        there = i < len(op.inputs) and bool(op.inputs[i])
        b.refuse(op, there and (values is None or i in (4, 7) or bool(values.any())), f"has {what}")


def _ordered(values: Array, size: int) -> Array:
    """Rows i, o, f, c as i, f, o, c."""
    i, o, f, c = values.reshape(4, size, *values.shape[1:])
    return np.concatenate([i, f, o, c])


def _turned(b: Builder, op: Operator, x: str, what: str) -> str:
    name = b.between(op, what, b.shape(op, x))
    b.layer("Reverse", name, [x], [name]).reverse_param.axis = 0
    return name
