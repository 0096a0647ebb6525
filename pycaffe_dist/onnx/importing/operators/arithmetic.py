"""Operators with weights, and sums and products of values."""

from __future__ import annotations

from math import prod

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.importing.build import Builder, imports, ints
from pycaffe_dist.onnx.importing.model import Operator
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter

REDUCED = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd")


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
        bias = np.broadcast_to(bias * np.float32(op.a.get("beta", 1.0)), (1, len(rows))).reshape(-1)
    _product(b, op, op.inputs[0], rows, bias, axis=1)


@imports("MatMul")
def matmul(b: Builder, op: Operator) -> None:
    weights = b.constant(op, 1)
    if weights is not None and weights.ndim == 2:
        axis = len(b.shape(op, op.inputs[0])) - 1
        _product(b, op, op.inputs[0], weights.T, None, axis)
        return
    b.refuse(
        op,
        weights is not None or b.constant(op, 0) is not None,
        "has a constant of more axes than 2",
    )
    b.layer("MatMul", b.named(op), op.inputs, op.outputs)


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
    b.refuse(op, bool(op.a.get("training_mode", 0)), "is in training mode")
    gamma, beta, mean, variance = (b.needed(op, i).reshape(-1) for i in range(1, 5))
    shape = b.shape(op, op.inputs[0])
    affine = not (np.all(gamma == 1) and np.all(beta == 0))
    target = b.between(op, "normal", shape) if affine else op.outputs[0]
    values = [mean, variance, np.ones(1)]
    layer = b.layer("BatchNorm", b.named(op), op.inputs[:1], [target], values)
    layer.batch_norm_param.eps = op.a.get("epsilon", 1e-5)
    if affine:
        name = f"{b.named(op)}/scale"
        scale = b.layer("Scale", name, [target], op.outputs, [gamma, beta])
        scale.scale_param.bias_term = True


# -- of two values --------------------------------------------------------------------------------


@imports("Add", "Sub", "Mul", "Div")
def binary(b: Builder, op: Operator) -> None:
    constants = [b.constant(op, i) for i in (0, 1)]
    if constants[1] is not None:
        _by_constant(b, op, op.inputs[0], constants[1])
    elif constants[0] is not None:
        _of_constant(b, op, constants[0])
    else:
        _of_two(b, op)


def _by_constant(b: Builder, op: Operator, x: str, values: Array) -> None:
    """x + c, x − c, x·c or x / c."""
    values = values.astype(np.float32)
    if op.kind in ("Sub", "Div"):
        values = -values if op.kind == "Sub" else 1 / values
    adds = op.kind in ("Add", "Sub")
    if values.size == 1 and prod(b.shape(op, x)) == prod(b.shape(op, op.outputs[0])):
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
    b.refuse(op, shape != b.shape(op, op.outputs[0]), "makes its first input larger")
    full = (1,) * (len(shape) - values.ndim) + values.shape
    own = [axis for axis, size in enumerate(full) if size != 1]
    first, last = own[0], own[-1] + 1
    fits = full[first:last] == shape[first:last]
    b.refuse(op, not fits, f"has a constant {values.shape} that does not fit {shape}")
    return first, values.reshape(full[first:last])


def _of_constant(b: Builder, op: Operator, values: Array) -> None:
    """c + x, c − x, c·x or c / x."""
    x = op.inputs[1]
    if op.kind in ("Add", "Mul"):
        _by_constant(b, op, x, values)
        return
    b.refuse(op, values.size != 1, "has a constant for each value before it")
    value = float(values.reshape(()))
    if op.kind == "Sub":
        p = b.layer("Power", b.named(op), [x], op.outputs).power_param
        p.scale, p.shift = -1, value
        return
    target = op.outputs[0] if value == 1 else b.between(op, "inverse", b.shape(op, x))
    b.layer("Power", b.named(op), [x], [target]).power_param.power = -1
    if value != 1:
        b.layer("Power", f"{b.named(op)}/times", [target], op.outputs).power_param.scale = value


def _of_two(b: Builder, op: Operator) -> None:
    first, second = op.inputs[:2]
    shapes = [b.shape(op, name) for name in (first, second)]
    if op.kind == "Div":
        inverse = b.between(op, "inverse", shapes[1])
        b.layer("Power", f"{b.named(op)}/inverse", [second], [inverse]).power_param.power = -1
        second = inverse
    if shapes[0] == shapes[1]:
        p = b.layer("Eltwise", b.named(op), [first, second], op.outputs).eltwise_param
        if op.kind in ("Mul", "Div"):
            p.operation = EltwiseParameter.PROD
        elif op.kind == "Sub":
            p.coeff[:] = [1, -1]
        return
    if prod(shapes[0]) < prod(shapes[1]):
        b.refuse(op, op.kind in ("Sub", "Div"), "makes its first input larger")
        first, second, shapes = second, first, shapes[::-1]
    _broadcast(b, op, first, second, *shapes)


def _broadcast(
    b: Builder, op: Operator, x: str, operand: str, shape: tuple[int, ...], own: tuple[int, ...]
) -> None:
    """A Scale or Bias whose operand is the second bottom, without its ones."""
    full = (1,) * (len(shape) - len(own)) + own
    there = [axis for axis, size in enumerate(full) if size != 1 or shape[axis] == 1]
    axes = [axis for axis, size in enumerate(full) if size == shape[axis]]
    first = axes[0] if axes else 0
    length = next(
        (i for i, axis in enumerate(range(first, len(shape))) if full[axis] != shape[axis]),
        len(shape) - first,
    )
    fits = all(full[axis] == 1 for axis in range(len(shape)) if not first <= axis < first + length)
    b.refuse(op, not axes or not fits or not there, f"spreads {own} over {shape}")
    cut = full[first : first + length]
    if cut != own:
        name = b.between(op, "operand", cut)
        layer = b.layer("Reshape", f"{b.named(op)}/operand", [operand], [name])
        layer.reshape_param.shape.dim[:] = cut
        operand = name
    if op.kind == "Sub":
        name = b.between(op, "negative", cut)
        b.layer("Power", f"{b.named(op)}/negative", [operand], [name]).power_param.scale = -1
        operand = name
    adds = op.kind in ("Add", "Sub")
    layer = b.layer("Bias" if adds else "Scale", b.named(op), [x, operand], op.outputs)
    (layer.bias_param if adds else layer.scale_param).axis = first


@imports("Max", "Sum", "Min")
def several(b: Builder, op: Operator) -> None:
    shapes = {b.shape(op, name) for name in op.inputs}
    constant = any(b.constant(op, i) is not None for i in range(len(op.inputs)))
    b.refuse(op, len(shapes) > 1 or constant, "has inputs of several shapes, or a constant")
    b.refuse(op, op.kind == "Min", "has no form in Caffe")
    if len(op.inputs) == 1:
        b.alias(op.outputs[0], op.inputs[0])
        return
    p = b.layer("Eltwise", b.named(op), op.inputs, op.outputs).eltwise_param
    p.operation = EltwiseParameter.MAX if op.kind == "Max" else EltwiseParameter.SUM


@imports(*REDUCED)
def reduce(b: Builder, op: Operator) -> None:
    shape = b.shape(op, op.inputs[0])
    given = b.constant(op, 1)
    axes = (
        ints(given) if given is not None else [int(a) for a in op.a.get("axes", range(len(shape)))]
    )
    axes = sorted(axis % len(shape) for axis in axes)
    keep = bool(op.a.get("keepdims", 1))
    if op.kind == "ReduceMean" and axes == [2, 3] and len(shape) == 4:
        target = op.outputs[0] if keep else b.between(op, "pooled", (*shape[:2], 1, 1))
        p = b.layer("Pooling", b.named(op), op.inputs[:1], [target]).pooling_param
        p.pool, p.global_pooling = p.AVE, True
        if not keep:
            b.layer("Flatten", f"{b.named(op)}/flat", [target], op.outputs)
        return
    layer = b.simple(op.kind, op)
    param = getattr(layer, f"reduce_{op.kind[6:].lower()}_param")
    param.axis[:], param.keepdims = axes, keep


@imports("ArgMax")
def argmax(b: Builder, op: Operator) -> None:
    """Of equal values ONNX takes the first, Caffe the last."""
    b.refuse(op, not op.a.get("keepdims", 1), "drops the axis (keepdims 0)")
    b.simple("ArgMax", op).argmax_param.axis = op.a.get("axis", 0)
