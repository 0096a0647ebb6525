"""Operators that treat every value alike."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.model import Operator

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


@imports("Identity", "Cast")
def same(b: Builder, op: Operator) -> None:
    """All numbers are floats here."""
    b.alias(op.outputs[0], op.inputs[0])


@imports("Dropout")
def dropout(b: Builder, op: Operator) -> None:
    ratio = b.constant(op, 1)
    layer = b.simple("Dropout", op)
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
    least, most = (b.constant(op, i) for i in (1, 2))
    largest = float(np.finfo(np.float32).max)
    low = float(op.a.get("min", -largest) if least is None else least)
    high = float(op.a.get("max", largest) if most is None else most)
    if low == 0 and high == 6:
        b.simple("ReLU6", op)
        return
    p = b.simple("Clip", op).clip_param
    p.min, p.max = max(low, -largest), min(high, largest)


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
