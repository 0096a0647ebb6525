"""Operators that treat every value alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.model import Operator

LARGEST = float(np.finfo(np.float32).max)
ONE_LAYER = {
    "Relu": "ReLU",
    "Sigmoid": "Sigmoid",
    "Tanh": "TanH",
    "Abs": "AbsVal",
    "Exp": "Exp",
    "Log": "Log",
    "Softplus": "BNLL",
    "Softsign": "Softsign",
    "Cos": "Cosine",
    "Mish": "Mish",
    "HardSwish": "HardSwish",
}


@imports(*ONE_LAYER)
def one_layer(b: Builder, op: Operator) -> None:
    b.simple(ONE_LAYER[op.kind], op)


@imports("Identity")
def same(b: Builder, op: Operator) -> None:
    b.alias(op.outputs[0], op.inputs[0])


@imports("Cast")
def cast(b: Builder, op: Operator) -> None:
    """All numbers are floats here: what would lose its fraction is refused, but for an Embed's."""
    kind = b.model.types.get(op.inputs[0])
    to = b.model.types.get(op.outputs[0])
    rounds = kind is not None and to is not None and kind.kind not in "iub" and to.kind in "iub"
    readers = [o for o in b.model.operators if op.outputs[0] in o.inputs]
    indices = all(o.kind == "Gather" and o.inputs[1] == op.outputs[0] for o in readers)
    read = op.outputs[0] in b.model.outputs or not indices
    b.refuse(op, rounds and read, f"rounds {kind} to {to}")
    b.alias(op.outputs[0], op.inputs[0])


@imports("Dropout")
def dropout(b: Builder, op: Operator) -> None:
    ratio, training = b.constant(op, 1), b.constant(op, 2)
    draws = "".join(op.inputs[2:]) and (training is None or bool(training))
    b.refuse(op, bool(draws), "is in training mode")
    masked = len(op.outputs) > 1 and op.outputs[1] in b.model.consumers
    b.refuse(op, masked, "has a mask that is read")
    layer = b.layer("Dropout", b.named(op), op.inputs[:1], op.outputs[:1])
    layer.dropout_param.dropout_ratio = float(op.a.get("ratio", 0.5 if ratio is None else ratio))


@imports("LeakyRelu")
def leaky_relu(b: Builder, op: Operator) -> None:
    b.simple("ReLU", op).relu_param.negative_slope = op.a.get("alpha", 0.01)


@imports("PRelu")
def prelu(b: Builder, op: Operator) -> None:
    slopes, shape = b.needed(op, 1), b.shape(op, op.inputs[0])
    channels = shape[1] if len(shape) > 1 else 1
    axes = (1,) * (len(shape) - slopes.ndim) + slopes.shape
    b.refuse(
        op,
        slopes.size not in (1, channels) or (slopes.size > 1 and axes[1] != channels),
        f"has slopes {slopes.shape} that are not one for each channel",
    )
    layer = b.layer("PReLU", b.named(op), op.inputs[:1], op.outputs, [slopes.reshape(-1)])
    layer.prelu_param.channel_shared = slopes.size == 1 and channels > 1
    if layer.prelu_param.channel_shared:
        b.weights[layer.name] = [slopes.reshape(())]


@imports("Elu")
def elu(b: Builder, op: Operator) -> None:
    b.simple("ELU", op).elu_param.alpha = op.a.get("alpha", 1.0)


@imports("Selu")
def selu(b: Builder, op: Operator) -> None:
    p = b.simple("SeLU", op).selu_param
    p.alpha = op.a.get("alpha", 1.67326319217681884765625)
    setattr(p, "lambda", op.a.get("gamma", 1.05070102214813232421875))


@imports("HardSigmoid")
def hard_sigmoid(b: Builder, op: Operator) -> None:
    p = b.simple("HardSigmoid", op).hard_sigmoid_param
    p.alpha, p.beta = op.a.get("alpha", 0.2), op.a.get("beta", 0.5)


@imports("Clip")
def clip(b: Builder, op: Operator) -> None:
    computed = [i for i in op.inputs[1:3] if i and i not in b.model.constants]
    b.refuse(op, bool(computed), "has bounds that are computed")
    least, most = (b.constant(op, i) for i in (1, 2))
    low, high = (
        op.a.get("min") if least is None else least,
        op.a.get("max") if most is None else most,
    )
    bounded(b, op, op.inputs[0], low, high)


def bounded(
    b: Builder, op: Operator, x: str, low: ArrayLike | None, high: ArrayLike | None
) -> None:
    """x within bounds, of which None is none."""
    least = -LARGEST if low is None else float(np.asarray(low).reshape(()))
    most = LARGEST if high is None else float(np.asarray(high).reshape(()))
    if least == 0 and most == 6:
        b.layer("ReLU6", b.named(op), [x], op.outputs)
        return
    p = b.layer("Clip", b.named(op), [x], op.outputs).clip_param
    p.min, p.max = max(least, -LARGEST), min(most, LARGEST)


@imports("Greater", "Less")
def threshold(b: Builder, op: Operator) -> None:
    """x > t as 1 or 0, of which x < t is −x > −t."""
    bounds = [b.constant(op, i) for i in (0, 1)]
    bound = bounds[0] if bounds[1] is None else bounds[1]
    alone = bound is not None and bound.size == 1 and bound.dtype.kind in "fiu"
    b.refuse(op, not alone, "compares with something else than one number")
    i = 0 if bounds[1] is not None else 1
    x, shape = op.inputs[i], b.shape(op, op.inputs[i])
    b.refuse(op, shape != b.shape(op, op.outputs[0]), "spreads what it compares")
    limit = float(np.asarray(bound).reshape(()))
    if (op.kind == "Less") == (i == 0):
        x, limit = b.between(op, "negative", shape), -limit
        b.layer("Power", f"{b.named(op)}/negative", [op.inputs[i]], [x]).power_param.scale = -1
    b.layer("Threshold", b.named(op), [x], op.outputs).threshold_param.threshold = limit


@imports("Not")
def negation(b: Builder, op: Operator) -> None:
    p = b.simple("Power", op).power_param
    p.scale, p.shift = -1, 1


@imports("Neg")
def negative(b: Builder, op: Operator) -> None:
    b.simple("Power", op).power_param.scale = -1


@imports("Sqrt")
def root(b: Builder, op: Operator) -> None:
    b.simple("Power", op).power_param.power = 0.5


@imports("Reciprocal")
def reciprocal(b: Builder, op: Operator) -> None:
    b.simple("Power", op).power_param.power = -1


@imports("Pow")
def power(b: Builder, op: Operator) -> None:
    exponent = b.needed(op, 1)
    b.refuse(op, exponent.size != 1, "has an exponent for each value")
    b.simple("Power", op).power_param.power = float(exponent.reshape(()))


@imports("Softmax", "LogSoftmax")
def softmax(b: Builder, op: Operator) -> None:
    """Before opset 13 all axes from ``axis`` on were taken together."""
    shape = b.shape(op, op.inputs[0])
    old = b.model.opset < 13
    axis = op.a.get("axis", 1 if old else -1) % len(shape)
    source, target = op.inputs[0], op.outputs[0]
    flat = old and any(size != 1 for size in shape[axis + 1 :])
    if flat:
        source = b.between(op, "flat", (*shape[:axis], int(np.prod(shape[axis:]))))
        b.layer("Flatten", f"{b.named(op)}/flat", op.inputs[:1], [source]).flatten_param.axis = axis
        target = b.between(op, "softmax", b.model.shapes[source])
    layer = b.layer(op.kind, b.named(op), [source], [target])
    param = layer.softmax_param if op.kind == "Softmax" else layer.log_softmax_param
    param.axis = axis
    if flat:
        back = b.layer("Reshape", f"{b.named(op)}/back", [target], op.outputs)
        back.reshape_param.shape.dim[:] = shape
