"""Layers of nets that read text, and of nets that compare faces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.layers.faces.distances import EPS, InnerDistance
from pycaffe_dist.layers.faces.label_specific import LabelSpecific
from pycaffe_dist.layers.faces.margin_inner_product import AngularProduct
from pycaffe_dist.layers.faces.matching import Matching
from pycaffe_dist.layers.ocr.ctc_decoder import ContinuationIndicator, CTCGreedyDecoder
from pycaffe_dist.layers.ocr.reverse_time import ReverseTime
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]


@exports(ReverseTime)
def reverse_time(g: Graph, layer: ReverseTime, x: Values) -> str:
    steps = x[0].shape[0]
    t = g.constant(np.arange(steps)[:, None], np.int64)
    lengths = g.to_int(g.reshape(x[1], [1, -1]))
    inside = g.op("Less", t, lengths)
    turned = g.op("Sub", g.op("Sub", lengths, g.ints(1)), t)
    source = g.op("Where", inside, turned, t)  # (T, N)
    flat = g.reshape(x[0], [steps, x[0].shape[1], -1])
    wide = g.op("Expand", g.op("Unsqueeze", source, g.ints(2)), g.op("Shape", flat))
    taken = g.op("GatherElements", flat, wide, axis=0)
    if not layer.layer_param.reverse_time_param.copy_remaining:
        taken = g.op("Mul", taken, g.to_float(g.op("Unsqueeze", inside, g.ints(2))))
    return g.reshape(taken, x[0].shape)


@exports(ContinuationIndicator)
def continuation(g: Graph, layer: ContinuationIndicator, x: Values) -> str:
    values = np.ones(g.out[0], np.float32)
    values[0] = 0
    return g.constant(values)


@exports(CTCGreedyDecoder)
def ctc_decoder(g: Graph, layer: CTCGreedyDecoder, x: Values) -> list[str]:
    """The classes that are kept go to the front: each to where as many were kept before it."""
    if layer.compares or len(x) == 3:
        raise layer.error("measures an accuracy, which has no form in ONNX: give it no labels")
    steps, num = layer.steps, layer.num
    scores = g.reshape(x[0], [steps, num, layer.classes])
    best = g.op("Transpose", g.op("ArgMax", scores, axis=2, keepdims=0), perm=[1, 0])  # (N, T)
    counts = _counts(g, layer, x)
    kept = g.op("And", g.op("Not", g.op("Equal", best, g.ints(layer.blank))), counts)
    if layer.layer_param.ctc_decoder_param.ctc_merge_repeated and steps > 1:
        before = g.op(
            "Concat",
            g.constant(np.full((num, 1), -1), np.int64),
            g.slice(best, 1, 0, steps - 1),
            axis=1,
        )
        kept = g.op("And", kept, g.op("Not", g.op("Equal", best, before)))
    number = g.to_int(kept)
    place = g.op("Sub", g.op("CumSum", number, g.ints_scalar(1)), g.ints(1))
    place = g.op("Where", kept, place, g.ints(steps))  # behind all others, where it is cut off
    room = g.constant(np.full((num, steps + 1), -1.0))
    placed = g.op("ScatterElements", room, place, g.to_float(best), axis=1)
    tops = [g.reshape(g.slice(placed, 1, 0, steps), [num, steps, 1, 1])]
    if len(g.out) > 1:
        top = g.op("Transpose", g.reduce("ReduceMax", scores, [2], keep=False), perm=[1, 0])
        total = g.reduce("ReduceSum", g.op("Mul", top, g.to_float(counts)), [1])
        tops.append(g.reshape(g.op("Neg", total), [num, 1, 1, 1]))
    return tops


def _counts(g: Graph, layer: CTCGreedyDecoder, x: Values) -> str:
    """Which steps (N, T) belong to the sequence: those before the next one begins."""
    if not layer.indicated or layer.steps == 1:
        return g.constant(np.ones((layer.num, layer.steps)), bool)
    begins = g.op("Equal", g.reshape(x[1], [layer.steps, layer.num]), g.constant(0.0))
    later = g.op("And", begins, g.constant(np.arange(layer.steps)[:, None] > 0, bool))
    so_far = g.op("CumSum", g.to_int(g.op("Transpose", later, perm=[1, 0])), g.ints_scalar(1))
    return g.op("Equal", so_far, g.ints(0))


@exports(LabelSpecific)
def label_specific(g: Graph, layer: LabelSpecific, x: Values) -> list[str]:
    """In TEST nothing happens, unless the layer is told otherwise."""
    if layer.applies or len(g.out) > 1:
        raise layer.error("changes scores by their labels, which has no form in ONNX")
    return [x[0]]


@exports(AngularProduct)
def angular_product(g: Graph, layer: AngularProduct, x: Values) -> str:
    """Without a margin it is an InnerProduct; with one, labels decide on the scores."""
    if layer.times > 1 or len(g.out) > 1:
        raise layer.error("changes scores by their labels, which has no form in ONNX")
    flat = g.reshape(x[0], [-1, layer.inputs])
    weights = g.constant(layer.blobs[0].data, name=f"{layer.name}/weight")
    return g.reshape(g.op("Gemm", flat, weights, transB=1), g.out[0])


@exports(Matching)
def matching(g: Graph, layer: Matching, x: Values) -> list[str]:
    """The labels of known people follow their scores."""
    flat = g.reshape(x[0], [-1, layer.size])
    table = g.constant(layer.blobs[0].data, name=f"{layer.name}/weight")
    scores = g.op("Gemm", flat, table, transB=1)
    if len(g.out) == 1:
        return [scores]
    whole = (
        g.op("Not", g.op("Less", x[1], g.constant(0))),
        g.op("Less", x[1], g.constant(layer.rows)),
    )
    return [scores, g.op("Where", g.op("And", *whole), x[1], g.constant(-1))]


@exports(InnerDistance)
def inner_distance(g: Graph, layer: InnerDistance, x: Values) -> str:
    if layer.absolute:
        raise layer.error("distance_type L1 has no form in ONNX")
    a = g.reshape(x[0], [-1, layer.inputs])
    if layer.given:
        b = g.reshape(x[1], [-1, layer.inputs])
    else:
        w = layer.blobs[0].data
        if layer.layer_param.inner_distance_param.normalize:
            w = w / np.sqrt((w * w).sum(axis=1, keepdims=True) + EPS)
        b = g.constant(w)
    product = g.op("Gemm", a, b, transB=1, alpha=-2.0)
    squares = g.op(
        "Add",
        g.reduce("ReduceSumSquare", a, [1]),
        g.op("Transpose", g.reduce("ReduceSumSquare", b, [1]), perm=[1, 0]),
    )
    y = g.clip(g.op("Add", squares, product), low=0.0)
    y = g.shifted(y, layer.blobs[-1].data) if layer.biased else y
    return g.reshape(y, g.out[0])
