"""Layers that look at windows of an image: convolutions, pooling, LRN, columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.layers.convolution import BaseConvolution, Deconvolution
from pycaffe_dist.layers.faces.local import Local
from pycaffe_dist.layers.im2col import Im2col
from pycaffe_dist.layers.lrn import LRN
from pycaffe_dist.layers.pooling import LOWEST, Expected, Maximum, Mean, Pooling
from pycaffe_dist.layers.spp import SPP
from pycaffe_dist.layers.video.convolution3d import Pooling3D
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value
from pycaffe_dist.proto.caffe_pb2 import PoolingParameter

Values = Sequence[Value]


# -- convolutions ---------------------------------------------------------------------------------


@exports(BaseConvolution)
def convolution(g: Graph, layer: BaseConvolution, x: Values) -> list[str]:
    """Weights have ONNX's order in both: (M, C/group, …), of a Deconvolution (C, M/group, …)."""
    w = layer.windows
    weights = layer.blobs[0].data
    weights = weights.reshape(*weights.shape[:2], *w.kernel)
    inputs = [g.constant(weights, name=f"{layer.name}/weight")]
    if len(layer.blobs) > 1:
        inputs.append(g.constant(layer.blobs[1].data.reshape(-1), name=f"{layer.name}/bias"))
    flipped = isinstance(layer, Deconvolution)
    attributes = {
        "kernel_shape": list(w.kernel),
        "strides": list(w.stride),
        "dilations": list(w.dilation),
        "pads": [*w.pad, *(w.pad if flipped else _end_of_convolution(w))],
        "group": layer.group,
    }
    kind = "ConvTranspose" if flipped else "Conv"
    tops = []
    for image in x:
        plain = layer.axis == 1 and layer.spatial > 0
        sizes = image.shape[layer.axis + 1 :] or (1,)
        folded = image if plain else g.reshape(image, [-1, layer.channels, *sizes])
        y = g.op(kind, folded, *inputs, **attributes)
        if not plain:
            y = g.reshape(y, g.out[0])
        tops.append(y)
    return tops


def _end_of_convolution(w: Windows) -> list[int]:
    """Padding behind the image: more than before it where Caffe lets a window reach over."""
    sides = zip(w.out, w.stride, w.extent, w.image, w.pad, strict=True)
    return [max(p, (out - 1) * s + extent - size - p) for out, s, extent, size, p in sides]


@exports(Im2col)
def columns(g: Graph, layer: Im2col, x: Values) -> str:
    w, channels = layer.windows, x[0].shape[layer.axis]
    y = _columns(g, w, channels, g.reshape(x[0], [-1, channels, *w.image]))
    return g.reshape(y, g.out[0]) if layer.axis != 1 else y


@exports(Local)
def local(g: Graph, layer: Local, x: Values) -> str:
    """Each window has a product of its own: (P, N, K) and (P, K, M)."""
    w, channels = layer.windows, layer.image[0]
    weights = layer.blobs[0].data[:, 0]
    images = x[0].shape[0]
    seen = g.reshape(_columns(g, w, channels, x[0]), [images, weights.shape[1], -1])
    own = g.constant(weights.transpose(2, 1, 0), name=f"{layer.name}/weight")
    y = g.op("MatMul", g.op("Transpose", seen, perm=[2, 0, 1]), own)
    y = g.reshape(g.op("Transpose", y, perm=[1, 2, 0]), g.out[0])
    if len(layer.blobs) > 1:
        bias = layer.blobs[1].data.reshape(g.out[0][1:])
        y = g.op("Add", y, g.constant(bias, name=f"{layer.name}/bias"))
    return y


def _columns(g: Graph, w: Windows, channels: int, image: str) -> str:
    """A convolution with one filter for each tap of each channel."""
    taps = prod(w.kernel)
    one_each = np.eye(taps).reshape(taps, 1, *w.kernel)
    return g.op(
        "Conv",
        image,
        g.constant(np.concatenate([one_each] * channels)),
        kernel_shape=list(w.kernel),
        strides=list(w.stride),
        dilations=list(w.dilation),
        pads=[*w.pad, *_end_of_convolution(w)],
        group=channels,
    )


# -- pooling --------------------------------------------------------------------------------------


@exports(Pooling)
def pooling(g: Graph, layer: Pooling, x: Values) -> str | list[str]:
    if g.resizable and not layer.everything:
        return _of_any_size(g, layer, x[0])
    if isinstance(layer.method, Maximum):
        wants_mask = len(layer.layer_param.top) > 1
        if layer.everything and not wants_mask:
            return g.op("GlobalMaxPool", x[0])
        return _largest(g, layer.windows, x[0], wants_mask)
    if layer.everything and not isinstance(layer.method, Expected):
        return g.op("GlobalAveragePool", x[0])
    if isinstance(layer.method, Mean):
        return _mean(g, layer.windows, x[0], layer.method.areas())
    ones = np.ones(layer.windows.out)
    total = _mean(g, layer.windows, x[0], ones)
    squares = _mean(g, layer.windows, g.op("Mul", x[0], x[0]), ones)
    zero = g.constant(0.0)
    quotient = g.op(
        "Div", squares, g.op("Where", g.op("Greater", total, zero), total, g.constant(1.0))
    )
    return g.op("Where", g.op("Greater", total, zero), quotient, zero)


def _of_any_size(g: Graph, layer: Pooling, x: str) -> str:
    """Whether the last windows reach over the image follows from its size."""
    w, method = layer.windows, layer.method
    largest = isinstance(method, Maximum)
    up = layer.layer_param.pooling_param.round_mode == PoolingParameter.CEIL
    reaches = up and any(s > 1 for s in w.stride)
    if len(g.out) > 1 or not isinstance(method, Maximum | Mean) or (reaches and not largest):
        raise layer.error(
            "has no form in ONNX for images of any size: windows at the edge count what is in the "
            "image, which each size changes (round_mode: FLOOR has no such windows)"
        )
    attributes = {"kernel_shape": list(w.kernel), "strides": list(w.stride), "pads": [*w.pad] * 2}
    if isinstance(method, Maximum):
        return g.op("MaxPool", x, ceil_mode=int(reaches), **attributes)
    share = (prod(w.kernel) / method.areas()).astype(np.float32)
    y = g.op("AveragePool", x, count_include_pad=1, **attributes)
    if share.min() == share.max():
        return g.scaled(y, float(share.flat[0]))
    raise layer.error("has no form in ONNX for images of any size: it does not count its padding")


@exports(Pooling3D)
def pooling3d(g: Graph, layer: Pooling3D, x: Values) -> str | list[str]:
    if layer.maximum:
        return _largest(g, layer.windows, x[0], False)
    return _mean(g, layer.windows, x[0], 1 / layer.shares())


@exports(SPP)
def pyramid(g: Graph, layer: SPP, x: Values) -> str:
    pools = [pooling(g, pool, x) for pool in layer.pools]
    if len(pools) == 1:
        return str(pools[0])
    return g.op("Concat", *(g.op("Flatten", str(pool), axis=1) for pool in pools), axis=1)


def _end(w: Windows) -> list[int]:
    """How far the last windows reach over the image."""
    sides = zip(w.out, w.stride, w.kernel, w.image, w.pad, strict=True)
    return [max(0, (out - 1) * s + k - size - p) for out, s, k, size, p in sides]


def _padded(g: Graph, w: Windows, x: str, value: float) -> tuple[str, Facts]:
    """The image and the attributes of a pooling over it, in which windows may see nothing at all.

    ONNX's own padding must be smaller than the kernel; then the image is padded beforehand.
    """
    begin, end = list(w.pad), _end(w)
    attributes = {"kernel_shape": list(w.kernel), "strides": list(w.stride)}
    if any(e >= k for e, k in zip(end, w.kernel, strict=True)):
        x = g.pad(x, [0, 0, *begin], [0, 0, *end], value)
        begin = end = [0] * len(end)
    return x, attributes | {"pads": [*begin, *end]}


def _largest(g: Graph, w: Windows, x: str, mask: bool) -> str | list[str]:
    if not mask:
        x, attributes = _padded(g, w, x, LOWEST)
        return g.op("MaxPool", x, **attributes)
    pads = [*w.pad, *_end(w)]
    y, places = g.several(
        "MaxPool", x, count=2, kernel_shape=list(w.kernel), strides=list(w.stride), pads=pads
    )
    # Counted through all planes; Caffe counts in each plane from 0.
    return [y, g.to_float(g.op("Mod", places, g.ints(prod(w.image))))]


def _mean(g: Graph, w: Windows, x: str, areas: Array) -> str:
    """Σx / area: ONNX divides by the whole kernel, Caffe not by what lies beyond the padding."""
    x, attributes = _padded(g, w, x, 0.0)
    y = g.op("AveragePool", x, count_include_pad=1, **attributes)
    return g.scaled(y, (prod(w.kernel) / areas)[None, None].astype(np.float32))


# -- LRN ------------------------------------------------------------------------------------------


@exports(LRN)
def lrn(g: Graph, layer: LRN, x: Values) -> str:
    if layer.across:
        alpha = float(layer.alpha_over_n * layer.size)
        return g.op(
            "LRN", x[0], size=layer.size, alpha=alpha, beta=float(layer.beta), bias=float(layer.k)
        )
    half = layer.size // 2
    mean = g.op(
        "AveragePool",
        g.op("Mul", x[0], x[0]),
        kernel_shape=[layer.size] * 2,
        pads=[half] * 4,
        count_include_pad=1,
    )
    scale = g.shifted(g.scaled(mean, layer.alpha_over_n * layer.size**2), layer.k)
    return g.op("Div", x[0], g.op("Pow", scale, g.constant(layer.beta)))
