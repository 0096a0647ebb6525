"""ONNX's LSTM as layers: one for each direction, with the parts of its weights in Caffe's order."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.model import Operator

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@imports("LSTM")
def lstm(b: Builder, op: Operator) -> None:
    """x: (T, N, I) to y: (T, directions, N, D)."""
    size, name = op.a["hidden_size"], b.named(op)
    ways = DIRECTIONS[op.a.get("direction", "forward")]
    _check(b, op, len(ways))
    steps, streams, _ = b.shape(op, op.inputs[0])
    weights, recurrence = b.needed(op, 1), b.needed(op, 2)
    bias = b.constant(op, 3)
    cont = b.between(op, "cont", (steps, streams))
    p = b.layer("ContinuationIndicator", f"{name}/cont", [], [cont]).continuation_indicator_param
    p.time_step, p.batch_size = steps, streams
    parts = []
    for i, backwards in enumerate(ways):
        part = f"{name}/{'backward' if backwards else 'forward'}"
        x = _turned(b, op, op.inputs[0], f"{part}/in") if backwards else op.inputs[0]
        both = np.zeros(8 * size, np.float32) if bias is None else bias[i]
        values = [weights[i], both[: 4 * size] + both[4 * size :], recurrence[i]]
        y = b.between(op, f"{part}/out", (steps, streams, size))
        layer = b.layer("LSTM", part, [x, cont], [y], [_ordered(v, size) for v in values])
        layer.recurrent_param.num_output = size
        parts.append(_turned(b, op, y, f"{part}/turned") if backwards else y)
    shaped = [b.between(op, f"part{i}", (steps, 1, streams, size)) for i in range(len(parts))]
    targets = shaped if len(parts) > 1 else op.outputs[:1]
    for i, (part, target) in enumerate(zip(parts, targets, strict=True)):
        layer = b.layer("Reshape", f"{name}/axis{i}", [part], [target])
        layer.reshape_param.shape.dim[:] = [steps, 1, streams, size]
    if len(parts) > 1:
        b.layer("Concat", f"{name}/both", shaped, op.outputs[:1]).concat_param.axis = 1


def _check(b: Builder, op: Operator, ways: int) -> None:
    b.refuse(
        op,
        any(name in b.model.consumers for name in op.outputs[1:]),
        "has last states that are read",
    )
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
