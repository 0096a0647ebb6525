"""Operators with weights, and sums and products of values."""

from __future__ import annotations

from math import prod

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.constants import MOST_VALUES
from pycaffe_dist.onnx.importing.model import Operator
from pycaffe_dist.onnx.importing.operators.neurons import bounded
from pycaffe_dist.onnx.importing.operators.shapes import spread
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter


@imports("Gemm")
def gemm(b: Builder, op: Operator) -> None:
    weights, bias = b.needed(op, 1), b.constant(op, 2)
    b.refuse(op, bool(op.a.get("transA", 0)), "has transA")
    b.refuse(
        op,
        len(op.inputs) > 2 and bool(op.inputs[2]) and bias is None,
        "has a bias that is computed",
    )
    weights = weights * np.float32(op.a.get("alpha", 1.0))
    rows = weights if op.a.get("transB", 0) else weights.T
    if bias is not None:
        one_row = bias.size in (1, len(rows)) and bias.shape[-1:] in ((), (1,), (len(rows),))
        words = f"has a bias {bias.shape} that is not one for each of its {len(rows)} outputs"
        b.refuse(op, not one_row or (bias.size > 1 and bias.shape[-1] == 1), words)
        bias = np.broadcast_to(bias * np.float32(op.a.get("beta", 1.0)), (1, len(rows))).reshape(-1)
    _product(b, op, op.inputs[0], rows, bias, axis=1)


@imports("MatMul")
def matmul(b: Builder, op: Operator) -> None:
    weights = b.constant(op, 1)
    axis = len(b.shape(op, op.inputs[0])) - 1
    if weights is not None and 2 < weights.ndim <= axis + 1:
        weights = weights[(0,) * (weights.ndim - 2)] if weights[..., 0, 0].size == 1 else weights
    if weights is not None and weights.ndim == 2:
        _product(b, op, op.inputs[0], weights.T, None, axis)
        return
    left = b.constant(op, 0)
    if left is not None and left.ndim == 2:
        _product_from_left(b, op, left)
        return
    shapes = [b.shape(op, name)[:-2] for name in op.inputs[:2]]
    constant = weights is not None or left is not None
    words = "has a constant that is neither one matrix nor one for each of the other's"
    b.refuse(op, constant and shapes[0] != shapes[1], words)
    b.layer("MatMul", b.named(op), op.inputs, op.outputs)


def _product_from_left(b: Builder, op: Operator, rows: Array) -> None:
    """W X = (Xᵀ Wᵀ)ᵀ, for each of the matrices X."""
    old, new, name = b.shape(op, op.inputs[1]), b.shape(op, op.outputs[0]), b.named(op)
    b.refuse(op, len(old) < 2, "multiplies a matrix and a vector")
    order = [*range(len(old) - 2), len(old) - 1, len(old) - 2]
    turned = b.between(op, "turned", [old[axis] for axis in order])
    product = b.between(op, "product", [new[axis] for axis in order])
    turn = b.layer("Permute", f"{name}/turned", op.inputs[1:2], [turned])
    p = b.layer("InnerProduct", f"{name}/product", [turned], [product], [rows])
    p.inner_product_param.num_output, p.inner_product_param.bias_term = len(rows), False
    p.inner_product_param.axis = len(old) - 1
    back = b.layer("Permute", name, [product], op.outputs)
    turn.permute_param.order[:] = back.permute_param.order[:] = order


def _product(
    b: Builder, op: Operator, source: str, rows: Array, bias: Array | None, axis: int
) -> None:
    values = [rows] if bias is None else [rows, bias]
    p = b.layer("InnerProduct", b.named(op), [source], op.outputs, values).inner_product_param
    p.num_output, p.bias_term = len(rows), bias is not None
    if axis != 1:
        p.axis = axis


@imports("BatchNormalization")
def batch_norm(b: Builder, op: Operator) -> None:
    trains = bool(op.a.get("training_mode", 0)) or any(op.outputs[1:])
    b.refuse(op, trains, "is in training mode")
    b.refuse(op, not op.a.get("spatial", 1), "has values for each pixel (spatial 0)")
    gamma, beta, mean, variance = (b.needed(op, i).reshape(-1) for i in range(1, 5))
    shape = b.shape(op, op.inputs[0])
    affine = not (np.all(gamma == 1) and np.all(beta == 0))
    target = b.between(op, "normal", shape) if affine else op.outputs[0]
    values = [mean, variance, np.ones(1)]
    layer = b.layer("BatchNorm", b.named(op), op.inputs[:1], [target], values)
    layer.batch_norm_param.eps = op.a.get("epsilon", 1e-5)
    if affine:
        name = f"{b.named(op)}/scale"
        scale = b.layer("Scale", name, [target], op.outputs[:1], [gamma, beta])
        scale.scale_param.bias_term = True


# -- of two values --------------------------------------------------------------------------------


@imports("Add", "Sub", "Mul", "Div")
def binary(b: Builder, op: Operator) -> None:
    kind = b.model.types.get(op.outputs[0])
    whole = op.kind == "Div" and kind is not None and kind.kind in "iu"
    b.refuse(op, whole, f"divides numbers of the type {kind}, which drops fractions")
    constants = [b.constant(op, i) for i in (0, 1)]
    if constants[1] is not None:
        values = constants[1].astype(np.float32)
        with np.errstate(divide="ignore"):
            changed = {"Sub": np.negative, "Div": np.reciprocal}.get(op.kind, np.positive)(values)
        _by_constant(b, op, op.inputs[0], changed)
    elif constants[0] is not None:
        _of_constant(b, op, constants[0].astype(np.float32))
    else:
        _of_two(b, op)


def _by_constant(b: Builder, op: Operator, x: str, values: Array) -> None:
    """x + c for Add and Sub, x·c for Mul and Div."""
    x = spread(b, op, x, b.shape(op, op.outputs[0]))
    adds = op.kind in ("Add", "Sub")
    if values.size == 1:
        p = b.layer("Power", b.named(op), [x], op.outputs).power_param
        if adds:
            p.shift = float(values.reshape(()))
        else:
            p.scale = float(values.reshape(()))
        return
    axis, part = _operand(b, op, x, values)
    layer = b.layer("Bias" if adds else "Scale", b.named(op), [x], op.outputs, [part])
    param = layer.bias_param if adds else layer.scale_param
    param.axis, param.num_axes = axis, part.ndim


def _operand(b: Builder, op: Operator, x: str, values: Array) -> tuple[int, Array]:
    """The axis of x from which on a constant fits, without its ones before and behind."""
    shape = b.shape(op, x)
    full = (1,) * (len(shape) - values.ndim) + values.shape
    own = [axis for axis, size in enumerate(full) if size != 1]
    first, last = own[0], own[-1] + 1
    many = prod(shape[first:last]) > max(values.size, MOST_VALUES)
    b.refuse(op, many, f"spreads a constant {values.shape} over {shape}")
    return first, np.broadcast_to(values.reshape(full[first:last]), shape[first:last])


def _of_constant(b: Builder, op: Operator, values: Array) -> None:
    """c + x, c − x, c·x or c / x."""
    x = op.inputs[1]
    if op.kind in ("Add", "Mul"):
        _by_constant(b, op, x, values)
        return
    subtracts, same = op.kind == "Sub", b.shape(op, x) == b.shape(op, op.outputs[0])
    alone = values.size == 1 and same and (subtracts or float(values.reshape(())) == 1)
    what = "negative" if subtracts else "inverse"
    target = op.outputs[0] if alone else b.between(op, what, b.shape(op, x))
    name = b.named(op) if alone else f"{b.named(op)}/{what}"
    p = b.layer("Power", name, [x], [target]).power_param
    if subtracts:
        p.scale = -1
        p.shift = float(values.reshape(())) if alone else 0
    else:
        p.power = -1
    if not alone:
        _by_constant(b, op, target, values)


def _of_two(b: Builder, op: Operator) -> None:
    (first, second), out = op.inputs[:2], b.shape(op, op.outputs[0])
    if op.kind == "Div":
        inverse = b.between(op, "inverse", b.shape(op, second))
        b.layer("Power", f"{b.named(op)}/inverse", [second], [inverse]).power_param.power = -1
        second = inverse
    if b.shape(op, first) != out and op.kind in ("Add", "Mul"):
        first, second = second, first
    first = spread(b, op, first, out)
    if b.shape(op, second) != out and _broadcast(b, op, first, second):
        return
    second = spread(b, op, second, out)
    p = b.layer("Eltwise", b.named(op), [first, second], op.outputs).eltwise_param
    if op.kind in ("Mul", "Div"):
        p.operation = EltwiseParameter.PROD
    elif op.kind == "Sub":
        p.coeff[:] = [1, -1]


def _broadcast(b: Builder, op: Operator, x: str, operand: str) -> bool:
    """A Scale or Bias whose operand is the second bottom, without its ones, if that will do."""
    shape, own = b.shape(op, x), b.shape(op, operand)
    full = (1,) * (len(shape) - len(own)) + own
    axes = [axis for axis, size in enumerate(full) if size == shape[axis]]
    first = axes[0] if axes else 0
    length = next(
        (i for i, axis in enumerate(range(first, len(shape))) if full[axis] != shape[axis]),
        len(shape) - first,
    )
    fits = all(full[axis] == 1 for axis in range(len(shape)) if not first <= axis < first + length)
    if not axes or not fits:
        return False
    cut = full[first : first + length]
    if cut != own:
        name = b.between(op, "operand", cut)
        layer = b.layer("Reshape", f"{b.named(op)}/operand", [operand], [name])
        layer.reshape_param.shape.dim[:] = cut
        operand = name
    if op.kind == "Sub":
        operand = _negative(b, op, operand, "negative")
    adds = op.kind in ("Add", "Sub")
    layer = b.layer("Bias" if adds else "Scale", b.named(op), [x, operand], op.outputs)
    (layer.bias_param if adds else layer.scale_param).axis = first
    return True


@imports("Max", "Min", "Sum", "Mean")
def several(b: Builder, op: Operator) -> None:
    values = [name for i, name in enumerate(op.inputs) if b.constant(op, i) is None]
    constants = [c for i in range(len(op.inputs)) if (c := b.constant(op, i)) is not None]
    least = op.kind == "Min"
    if op.kind in ("Max", "Min") and len(values) == 1 and [c.size for c in constants] == [1]:
        x = spread(b, op, values[0], b.shape(op, op.outputs[0]))
        bounded(b, op, x, *((None, constants[0]) if least else (constants[0], None)))
        return
    parts = [spread(b, op, name, b.shape(op, op.outputs[0])) for name in op.inputs]
    if len(parts) == 1:
        b.alias(op.outputs[0], parts[0])
        return
    target = b.between(op, "largest", b.shape(op, op.outputs[0])) if least else op.outputs[0]
    parts = [_negative(b, op, x, f"negative{i}") for i, x in enumerate(parts)] if least else parts
    name = f"{b.named(op)}/largest" if least else b.named(op)
    p = b.layer("Eltwise", name, parts, [target]).eltwise_param
    p.operation = EltwiseParameter.MAX if op.kind in ("Max", "Min") else EltwiseParameter.SUM
    if op.kind == "Mean":
        p.coeff[:] = [1 / len(parts)] * len(parts)
    if least:
        b.layer("Power", b.named(op), [target], op.outputs).power_param.scale = -1


def _negative(b: Builder, op: Operator, x: str, what: str) -> str:
    name = b.between(op, what, b.shape(op, x))
    b.layer("Power", f"{b.named(op)}/{what}", [x], [name]).power_param.scale = -1
    return name
