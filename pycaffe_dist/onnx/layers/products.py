"""Layers with weights that are matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.layers.changed.inner_product import EPS, GivenInnerProduct, NormalizedInnerProduct
from pycaffe_dist.layers.embed import Embed
from pycaffe_dist.layers.faces.channels import ChannelScale, Gram, Pairwise
from pycaffe_dist.layers.inner_product import InnerProduct
from pycaffe_dist.layers.mobile.axpy import Axpy
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]


@exports(InnerProduct)
def inner_product(g: Graph, layer: InnerProduct, x: Values) -> str:
    return _product(g, layer, x[0], layer.blobs[0].data)


@exports(NormalizedInnerProduct)
def normalized(g: Graph, layer: NormalizedInnerProduct, x: Values) -> str:
    w = layer.blobs[0].data
    return _product(g, layer, x[0], w / np.sqrt((w * w).sum(axis=1, keepdims=True) + EPS))


def _product(g: Graph, layer: InnerProduct, x: Value, weights: Array) -> str:
    """Gemm: x as a matrix, W as it is stored."""
    inputs = [g.constant(weights, name=f"{layer.name}/weight")]
    if len(layer.blobs) > 1:
        inputs.append(g.constant(layer.blobs[1].data, name=f"{layer.name}/bias"))
    matrix = layer.axis == 1 and len(x.shape) == 2
    flat = x if matrix else g.reshape(x, [-1 if layer.axis != 1 else 0, layer.inputs])
    y = g.op("Gemm", flat, *inputs, transB=int(not layer.transpose))
    return y if layer.axis == 1 else g.reshape(y, g.out[0])


@exports(GivenInnerProduct)
def given(g: Graph, layer: GivenInnerProduct, x: Values) -> str:
    sides = [g.reshape(side, [-1, layer.inputs]) for side in x]
    return g.reshape(g.op("Gemm", *sides, transB=1), g.out[0])


@exports(Embed)
def embed(g: Graph, layer: Embed, x: Values) -> str:
    rows = g.op("Gather", g.constant(layer.blobs[0].data), g.to_int(x[0]), axis=0)
    return g.shifted(rows, layer.blobs[1].data) if len(layer.blobs) > 1 else rows


@exports(Axpy)
def axpy(g: Graph, layer: Axpy, x: Values) -> str:
    a = g.reshape(x[0], [0, -1, 1, 1])
    return g.op("Add", g.op("Mul", a, x[1]), x[2])


@exports(ChannelScale)
def channel_scale(g: Graph, layer: ChannelScale, x: Values) -> str:
    if not layer.layer_param.channel_scale_param.do_forward:
        return x[0]
    return g.op("Mul", x[0], g.reshape(x[1], [x[0].shape[0], 1, *x[0].shape[2:]]))


@exports(Gram)
def gram(g: Graph, layer: Gram, x: Values) -> str:
    flat = g.reshape(x[0], [0, 0, -1])
    product = g.op("MatMul", flat, g.op("Transpose", flat, perm=[0, 2, 1]))
    return g.op("Unsqueeze", g.scaled(product, 1 / layer.size), g.ints(3))


@exports(Pairwise)
def pairwise(g: Graph, layer: Pairwise, x: Values) -> str:
    from pycaffe_dist.proto.caffe_pb2 import PairwiseParameter as P

    a, b = (g.reshape(side, [-1, layer.size]) for side in x)
    a, b = g.op("Unsqueeze", a, g.ints(1)), g.op("Unsqueeze", b, g.ints(0))
    if layer.operation == P.SUM:
        a, b = (g.scaled(side, c) for side, c in zip((a, b), layer.coeffs, strict=True))
    return g.op({P.PROD: "Mul", P.SUM: "Add"}.get(layer.operation, "Max"), a, b)
