"""Recurrent layers, step by step.

ONNX's own LSTM knows no sequence that begins in the middle (Caffe's ``cont``), so the steps are
written out.  A file has no memory: the states begin with those the layer has when it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.layers.lstm import LSTM, LSTMUnit
from pycaffe_dist.layers.ocr.lstm import CaffeLstm
from pycaffe_dist.layers.recurrent import Recurrent
from pycaffe_dist.layers.rnn import RNN
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]


def _sums(g: Graph, layer: Recurrent, x: Values) -> list[str]:
    """W_x x_t + b + W_s x_static of each step: (1, N, G·D)."""
    flat = g.reshape(x[0], [layer.length, -1, layer.inputs[0]])
    weights = g.constant(layer.blobs[0].data.T, name=f"{layer.name}/weight")
    total = g.shifted(g.op("MatMul", flat, weights), layer.blobs[layer.bias].data)
    if layer.has_static:
        static = g.reshape(x[2], [-1, layer.inputs[1]])
        total = g.op("Add", total, g.op("MatMul", static, g.constant(layer.blobs[2].data.T)))
    return g.split(total, [1] * layer.length, 0)


def _first(g: Graph, layer: Recurrent, x: Values) -> list[str]:
    """The states before the first step, (1, N, D)."""
    if layer.exposed:
        return list(x[len(x) - layer.exposed :])
    return [g.constant(view.blob.data) for view in layer.last]


def _continues(g: Graph, layer: Recurrent, x: Values) -> list[str]:
    """Of each step (1, N, 1): 0 where a sequence begins."""
    if len(x) > 1:
        cont = g.reshape(x[1], [layer.length, -1, 1])
        return g.split(cont, [1] * layer.length, 0)
    return [g.constant(np.full((1, 1, 1), float(t > 0))) for t in range(layer.length)]


@exports(LSTM)
def lstm(g: Graph, layer: LSTM, x: Values) -> list[str]:
    if (
        isinstance(layer, CaffeLstm)
        and len(x) > 1
        and x[1].shape[:2] != (layer.length, layer.streams)
    ):
        raise layer.error("a second bottom that is not (steps, streams) has no form in ONNX")
    h, c = _first(g, layer, x)
    weights = g.constant(layer.blobs[layer.state_weights].data.T, name=f"{layer.name}/recurrence")
    out, shared = [], isinstance(layer, CaffeLstm)
    for total, cont in zip(_sums(g, layer, x), _continues(g, layer, x), strict=True):
        kept = g.op("Mul", g.slice(h, 1, 0, 1) if shared else h, cont)
        total = g.op("Add", total, g.op("MatMul", kept, weights))
        c, h = _unit(g, total, c, cont, layer.size)
        out.append(h)
    y = out[0] if len(out) == 1 else g.op("Concat", *out, axis=0)
    y = g.reshape(y, g.out[0]) if len(g.out[0]) == 2 else y
    return [y, h, c][: len(g.out)]


def _unit(g: Graph, total: str, c: str, cont: str, size: int) -> tuple[str, str]:
    """The cell and the output of one step."""
    gates, news = g.split(total, [3 * size, size], 2)
    i, f, o = g.split(g.op("Sigmoid", gates), [size] * 3, 2)
    kept = g.op("Mul", g.op("Mul", f, cont), c)
    cell = g.op("Add", kept, g.op("Mul", i, g.op("Tanh", news)))
    return cell, g.op("Mul", o, g.op("Tanh", cell))


@exports(LSTMUnit)
def lstm_unit(g: Graph, layer: LSTMUnit, x: Values) -> list[str]:
    cont = g.op("Unsqueeze", x[2], g.ints(2))
    return list(_unit(g, x[1], x[0], cont, x[0].shape[2]))


@exports(RNN)
def rnn(g: Graph, layer: RNN, x: Values) -> list[str]:
    (h,) = _first(g, layer, x)
    weights = g.constant(layer.blobs[layer.state_weights].data.T, name=f"{layer.name}/recurrence")
    states = []
    for total, cont in zip(_sums(g, layer, x), _continues(g, layer, x), strict=True):
        h = g.op("Tanh", g.op("Add", total, g.op("MatMul", g.op("Mul", h, cont), weights)))
        states.append(h)
    joint = states[0] if len(states) == 1 else g.op("Concat", *states, axis=0)
    out = g.op("MatMul", joint, g.constant(layer.blobs[-2].data.T))
    return [g.op("Tanh", g.shifted(out, layer.blobs[-1].data)), h][: len(g.out)]
