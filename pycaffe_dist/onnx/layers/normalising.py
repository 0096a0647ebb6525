"""Layers that shift and scale: BatchNorm, Scale, MVN, vectors of length 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.bias import Bias
from pycaffe_dist.layers.changed.batch_norm import NvBatchNorm
from pycaffe_dist.layers.changed.scale import BoundedScale
from pycaffe_dist.layers.mobile.grn import GRN
from pycaffe_dist.layers.mvn import MVN
from pycaffe_dist.layers.ocr.dense_block import EPS, DenseBlock
from pycaffe_dist.layers.scale import Scale
from pycaffe_dist.layers.segmentation.bn import RunningBN, SegNetBN
from pycaffe_dist.layers.ssd.normalize import FaceNormalize, Normalize, PlainNormalize
from pycaffe_dist.layers.synopsys.layer_norm import LayerNorm
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value
from pycaffe_dist.onnx.layers.windowed import convolution

Values = Sequence[Value]


@exports(BatchNorm)
def batch_norm(g: Graph, layer: BatchNorm, x: Values) -> str:
    if layer.use_global_stats:
        return _stored(g, layer, x[0], *layer._stored(), np.ones(layer.channels), None)
    return _of_batch(g, x[0], layer.eps)[0]


@exports(NvBatchNorm)
def nv_batch_norm(g: Graph, layer: NvBatchNorm, x: Values) -> str:
    gamma, beta = (
        (b.data for b in layer.blobs[3:5]) if layer.affine else (np.ones(layer.channels), None)
    )
    if layer.use_global_stats:
        return _stored(g, layer, x[0], *layer._stored(), gamma, beta)
    return _affine(g, _of_batch(g, x[0], layer.eps)[0], x[0], gamma, beta)


@exports(RunningBN)
def running_bn(g: Graph, layer: RunningBN, x: Values) -> str:
    slope, bias = (blob.data.reshape(-1) for blob in layer.blobs[:2])
    return _stored(g, layer, x[0], *layer._stored(), slope, bias)


@exports(SegNetBN)
def segnet_bn(g: Graph, layer: SegNetBN, x: Values) -> list[str]:
    scale, shift = (blob.data.reshape(-1) for blob in layer.blobs[:2])
    if layer.inference:
        return [_affine(g, x[0], x[0], scale, shift)]
    normal, mean, variance = _of_batch(g, x[0], layer.eps)
    return [_affine(g, normal, x[0], scale, shift), mean, variance][: len(g.out)]


@exports(DenseBlock)
def dense_block(g: Graph, layer: DenseBlock, x: Values) -> str:
    """Each step's stages are BatchNormalization, Relu and Conv, joined to what is there."""
    y: str = x[0]
    for _, _, stages in layer.steps_in_turn():
        made = y
        for stage in stages:
            _, gamma, beta, means, variances = stage.params
            parts = gamma.data, beta.data, layer.recall(means), layer.recall(variances)
            constants = [g.constant(part.reshape(-1)) for part in parts]
            made = g.op("BatchNormalization", made, *constants, epsilon=EPS)
            inside = Value(g.op("Relu", made), stage.bottom.shape)
            (made,) = convolution(g, stage.convolution, [inside])
        y = g.op("Concat", y, made, axis=1)
    return y


def _stored(
    g: Graph,
    layer: BatchNorm,
    x: Value,
    mean: Array,
    variance: Array,
    gamma: Array,
    beta: Array | None,
) -> str:
    zeros = np.zeros_like(gamma)
    values = (gamma, zeros if beta is None else beta, mean, variance)
    names = ("scale", "shift", "mean", "variance")
    inputs = [g.constant(v, name=f"{layer.name}/{n}") for v, n in zip(values, names, strict=True)]
    return g.op("BatchNormalization", x, *inputs, epsilon=float(layer.eps))


def _of_batch(g: Graph, x: Value, eps: float) -> tuple[str, str, str]:
    """By the batch's own mean and variance."""
    axes = [axis for axis in range(len(x.shape)) if axis != 1]
    mean = g.reduce("ReduceMean", x, axes)
    centred = g.op("Sub", x, mean)
    variance = g.reduce("ReduceMean", g.op("Mul", centred, centred), axes)
    return g.op("Div", centred, g.op("Sqrt", g.shifted(variance, eps))), mean, variance


def _affine(g: Graph, y: str, x: Value, scale: Array, shift: Array | None) -> str:
    shape = (-1, *[1] * (len(x.shape) - 2))
    y = g.op("Mul", y, g.constant(scale.reshape(shape)))
    return y if shift is None else g.op("Add", y, g.constant(shift.reshape(shape)))


# -- Scale and Bias -------------------------------------------------------------------------------


@exports(Scale)
def scale(g: Graph, layer: Scale, x: Values) -> str:
    y = g.op(
        "Mul", x[0], _operand(g, layer, x, "scale", layer.blobs[0].data if len(x) == 1 else None)
    )
    if not layer.bias_term:
        return y
    return g.op("Add", y, _operand(g, layer, x[:1], "shift", layer.blobs[-1].data))


@exports(BoundedScale)
def bounded_scale(g: Graph, layer: BoundedScale, x: Values) -> str:
    p, s = layer.layer_param.scale_param, layer.blobs[0].data if len(x) == 1 else None
    if s is not None:
        low = p.min_value if p.HasField("min_value") else -np.inf
        high = p.max_value if p.HasField("max_value") else np.inf
        layer.blobs[0].data[...] = np.clip(s, low, high)
    return scale(g, layer, x)


@exports(Bias)
def bias(g: Graph, layer: Bias, x: Values) -> str:
    values = layer.blobs[0].data if len(x) == 1 else None
    return g.op("Add", x[0], _operand(g, layer, x, "shift", values))


def _operand(g: Graph, layer: Scale | Bias, x: Values, name: str, values: Array | None) -> str:
    """The operand with ones for the axes of x before and behind its own."""
    axes, own = len(x[0].shape), values.shape if values is not None else x[1].shape
    axis = layer.axis % axes if own else axes
    behind = axes - axis - len(own)
    if values is not None:
        return g.constant(values.reshape(*own, *[1] * behind), name=f"{layer.name}/{name}")
    return g.op("Unsqueeze", x[1], g.ints(*range(len(own), len(own) + behind))) if behind else x[1]


# -- normalising each item ------------------------------------------------------------------------


@exports(MVN)
def mvn(g: Graph, layer: MVN, x: Values) -> str:
    four = x[0] if len(x[0].shape) == 4 else g.reshape_to(x[0], g.out[0])
    axes = [1, 2, 3] if layer.across_channels else [2, 3]
    centred = g.op("Sub", four, g.reduce("ReduceMean", four, axes))
    if not layer.normalize_variance:
        return centred
    deviation = g.op("Sqrt", g.reduce("ReduceMean", g.op("Mul", centred, centred), axes))
    return g.op("Div", centred, g.shifted(deviation, layer.eps))


@exports(LayerNorm)
def layer_norm(g: Graph, layer: LayerNorm, x: Values) -> str:
    axes = [*range(1, len(x[0].shape))]
    centred = g.op("Sub", x[0], g.reduce("ReduceMean", x[0], axes))
    variance = g.reduce("ReduceMean", g.op("Mul", centred, centred), axes)
    y = g.op("Div", centred, g.op("Sqrt", g.shifted(variance, layer.eps)))
    if not layer.affine:
        return y
    return g.shifted(g.scaled(y, layer.blobs[0].data), layer.blobs[1].data)


@exports(Normalize)
def normalize(g: Graph, layer: Normalize, x: Values) -> str:
    p, axes = layer.layer_param.norm_param, len(x[0].shape)
    y = _of_length_1(g, x[0], [*range(1, axes)] if p.across_spatial else [1], p.eps)
    scales = layer.blobs[0].data
    return g.scaled(y, scales.reshape(-1, *[1] * (axes - 2)) if scales.shape else scales)


@exports(PlainNormalize)
def plain_normalize(g: Graph, layer: PlainNormalize, x: Values) -> str:
    return _of_length_1(g, x[0], range(1, len(x[0].shape)), 0.0)


@exports(GRN)
def grn(g: Graph, layer: GRN, x: Values) -> str:
    return _of_length_1(g, x[0], [1], layer.layer_param.grn_param.bias)


def _of_length_1(g: Graph, x: str, axes: Sequence[int], eps: float) -> str:
    squares = g.reduce("ReduceSum", g.op("Mul", x, x), axes)
    return g.op("Div", x, g.op("Sqrt", g.shifted(squares, eps)))


@exports(FaceNormalize)
def face_normalize(g: Graph, layer: FaceNormalize, x: Values) -> list[str]:
    four = g.reshape_to(x[0], g.out[0])
    total = g.reduce("ReduceSumSquare" if layer.l2 else "ReduceL1", four, [1])
    norm = g.shifted(total, 1e-6)
    norm = g.op("Sqrt", norm) if layer.l2 else norm
    return [g.op("Div", four, norm), norm][: len(g.out)]
