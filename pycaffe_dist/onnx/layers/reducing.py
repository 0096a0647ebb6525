"""Layers that compare or add values: Eltwise, Softmax, ArgMax, sums along axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from pycaffe_dist.layers.argmax import ArgMax
from pycaffe_dist.layers.eltwise import Eltwise
from pycaffe_dist.layers.reduction import Reduction
from pycaffe_dist.layers.softmax import Softmax
from pycaffe_dist.layers.synopsys import reduce
from pycaffe_dist.layers.synopsys.log_softmax import LEAST, LogSoftmax
from pycaffe_dist.layers.video.batch_reduction import BatchReduction
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter, ReductionParameter

Values = Sequence[Value]


@exports(Eltwise)
def eltwise(g: Graph, layer: Eltwise, x: Values) -> str:
    if layer.operation == EltwiseParameter.MAX:
        return g.op("Max", *x)
    kind, parts = "Mul", [str(value) for value in x]
    if layer.operation == EltwiseParameter.SUM:
        kind, parts = "Add", [g.scaled(v, c) for v, c in zip(x, layer.coeffs, strict=True)]
    if kind == "Add" and layer.layer_param.top[0] == layer.layer_param.bottom[0]:
        # Caffe clears the top first, and with it the bottom that it is.
        plain = layer.coeffs[0] == layer.coeffs[1] == 1
        parts = parts if plain else [g.op("Mul", x[0], g.constant(0.0)), *parts[1:]]
    y = parts[0]
    for part in parts[1:]:
        y = g.op(kind, y, part)
    return y


@exports(Softmax)
def softmax(g: Graph, layer: Softmax, x: Values) -> str:
    return g.op("Softmax", x[0], axis=layer.layer_param.softmax_param.axis)


@exports(LogSoftmax)
def log_softmax(g: Graph, layer: LogSoftmax, x: Values) -> str:
    y = g.op("LogSoftmax", x[0], axis=layer.layer_param.log_softmax_param.axis)
    return g.clip(y, low=log(LEAST))


@exports(ArgMax)
def argmax(g: Graph, layer: ArgMax, x: Values) -> str:
    """Of equal values Caffe takes the last: so those are counted from the end."""
    axis, source = layer.axis, str(x[0])
    if axis is None:
        axis, source = 1, g.reshape(x[0], [0, -1])
    shape = x[0].shape if layer.axis is not None else (x[0].shape[0], layer.size)
    backwards = g.slice(source, axis, shape[axis] - 1, -shape[axis] - 1, -1)
    values, places = g.several("TopK", backwards, g.ints(layer.top_k), count=2, axis=axis)
    numbers = g.op("Sub", g.constant(float(layer.size - 1)), g.to_float(places))
    if layer.axis is not None:
        return values if layer.values else numbers
    if not layer.values:
        return g.reshape(numbers, [0, *g.out[0][1:]])
    both = [g.op("Unsqueeze", part, g.ints(1)) for part in (numbers, values)]
    return g.reshape(g.op("Concat", *both, axis=1), [0, *g.out[0][1:]])


@exports(Reduction)
def reduction(g: Graph, layer: Reduction, x: Values) -> str:
    p = layer.layer_param.reduction_param
    kinds = {ReductionParameter.ASUM: "ReduceL1", ReductionParameter.SUMSQ: "ReduceSumSquare"}
    axes = range(p.axis % max(1, len(x[0].shape)), len(x[0].shape))
    y = g.reduce(kinds.get(layer.operation, "ReduceSum"), x[0], axes, keep=False)
    return g.scaled(y, layer.coeff)


@exports(reduce.Reduce)
def reduced(g: Graph, layer: reduce.Reduce, x: Values) -> str:
    keep = getattr(layer.layer_param, layer.param).keepdims
    return g.reduce(layer.type, x[0], layer.axes, keep)


@exports(BatchReduction)
def batch_reduction(g: Graph, layer: BatchReduction, x: Values) -> str:
    r = layer.layer_param.batch_reduction_param.reduction_param
    parts = []
    for piece in g.split(x[0], layer.pieces, layer.axis):
        if layer.operation == r.TOPK:
            piece = g.several("TopK", piece, g.ints(layer.k), count=2, axis=layer.axis)[0]
        kind = "ReduceSum" if layer.operation == r.SUM else "ReduceMean"
        parts.append(g.reduce(kind, piece, [layer.axis], keep=layer.levels != [1]))
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=layer.axis)
