"""Images looked at where a flow, a map or offsets point to, and what else optical flow needs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.layers.flow.correlation import Correlation
from pycaffe_dist.layers.flow.data_augmentation import (
    CHANNELS,
    COUNT,
    PIXELS,
    DataAugmentation,
)
from pycaffe_dist.layers.flow.flow_warp import FlowWarp
from pycaffe_dist.layers.flow.l1_loss import ChannelNorm
from pycaffe_dist.layers.flow.spatial_transformer import SpatialTransformer
from pycaffe_dist.layers.rcnn.deformable_convolution import DeformableConvolution
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value
from pycaffe_dist.onnx.layers.regions import sample

Values = Sequence[Value]


@exports(ChannelNorm)
def channel_norm(g: Graph, layer: ChannelNorm, x: Values) -> str:
    return g.reduce("ReduceL2", x[0], [1])


@exports(FlowWarp)
def flow_warp(g: Graph, layer: FlowWarp, x: Values) -> str:
    n, _, h, w = x[0].shape
    across, down = (g.op("Squeeze", v, g.ints(1)) for v in g.split(x[1], [1, 1], 1))
    columns = g.op("Add", across, g.constant(np.arange(w)))
    rows = g.op("Add", down, g.constant(np.arange(h)[:, None]))
    image = g.constant(np.arange(n).reshape(-1, 1, 1), np.int64)
    return _inside_only(g, x[0], image, rows, columns, layer.fill)


@exports(DataAugmentation)
def data_augmentation(g: Graph, layer: DataAugmentation, x: Values) -> str:
    p = layer.layer_param.augmentation_param
    if layer.blobs[COUNT].data.item() < p.recompute_mean:
        raise layer.error("its mean is not complete yet, and would change with every pass")
    if p.recompute_mean:
        mean = layer.blobs[PIXELS if p.mean_per_pixel else CHANNELS].data
    else:
        mean = np.zeros(1) if p.mean_per_pixel else np.array(p.mean).reshape(1, -1, 1, 1)
    return g.op("Sub", x[0], g.constant(mean, name=f"{layer.name}/mean"))


@exports(DeformableConvolution)
def deformable_convolution(g: Graph, layer: DeformableConvolution, x: Values) -> str:
    """The channels of a deformable group are an image of their own: its taps are (taps, places)."""
    n, channels, *size = x[0].shape
    w, images = layer.windows, n * layer.moved
    image = Value(
        g.reshape(x[0], [images, channels // layer.moved, *size]),
        (images, channels // layer.moved, *size),
    )
    moves = g.reshape(x[1], [images, prod(w.kernel), 2, prod(w.out)])
    places = [
        g.op("Add", g.op("Squeeze", move, g.ints(2)), g.constant(taps))
        for move, taps in zip(g.split(moves, [1, 1], 2), _taps(w), strict=True)
    ]
    which = g.constant(np.arange(images).reshape(-1, 1, 1), np.int64)
    seen = _inside_only(g, image, which, places[0], places[1], 0.0)
    weights = layer.blobs[0].data.reshape(layer.group, layer.outputs // layer.group, -1)
    columns = g.reshape(seen, [n, layer.group, weights.shape[2], prod(w.out)])
    y = g.op("MatMul", g.constant(weights, name=f"{layer.name}/weight"), columns)
    y = g.reshape(y, g.out[0])
    if len(layer.blobs) > 1:
        bias = layer.blobs[1].data.reshape(-1, 1, 1)
        y = g.op("Add", y, g.constant(bias, name=f"{layer.name}/bias"))
    return y


def _taps(w: Windows) -> list[Array]:
    """Rows and columns of all taps of all windows without an offset, (taps, places)."""
    axes = [
        w.starts(i) + np.arange(w.kernel[i])[:, None] * w.dilation[i] for i in range(len(w.image))
    ]
    grids = np.broadcast_arrays(axes[0][:, None, :, None], axes[1][None, :, None, :])
    return [grid.reshape(prod(w.kernel), -1) for grid in grids]


def _inside_only(g: Graph, x: Value, image: str, rows: str, columns: str, fill: float) -> str:
    """``sample``, with another value for what is not in the image."""
    _, _, h, w = x.shape
    inside = g.op("And", _within(g, rows, h), _within(g, columns, w))
    found = sample(g, x, image, rows, columns)
    return g.op("Where", g.op("Unsqueeze", inside, g.ints(1)), found, g.constant(fill))


def _within(g: Graph, at: str, size: int) -> str:
    low = g.op("GreaterOrEqual", at, g.constant(0.0))
    return g.op("And", low, g.op("Less", at, g.constant(float(size))))


@exports(SpatialTransformer)
def spatial_transformer(g: Graph, layer: SpatialTransformer, x: Values) -> str:
    """Sampled from an image with a border of zeros, beyond which there is nothing but zeros."""
    n, channels, h, w = x[0].shape
    _, _, height, width = g.out[0]
    free = g.reshape(x[1], [n, len(layer.free)])
    columns = [
        g.slice(free, 1, layer.free.index(i), layer.free.index(i) + 1)
        if value is None
        else g.constant(np.full((n, 1), value))
        for i, value in enumerate(layer.fixed)
    ]
    theta = g.reshape(g.op("Concat", *columns, axis=1), [n, 2, 3])
    grid = g.constant(layer.grid(g.out[0]))
    at = g.op("MatMul", grid, g.op("Transpose", theta, perm=[0, 2, 1]))
    places = [
        g.reshape(g.shifted(g.scaled(g.shifted(v, 1.0), size / 2), 1.0), [n, height, width])
        for v, size in zip(g.split(at, [1, 1], 2), (h, w), strict=True)
    ]
    bordered = Value(g.pad(x[0], [0, 0, 1, 1], [0, 0, 1, 1]), (n, channels, h + 2, w + 2))
    image = g.constant(np.arange(n).reshape(-1, 1, 1), np.int64)
    return sample(g, bordered, image, *places)


@exports(Correlation)
def correlation(g: Graph, layer: Correlation, x: Values) -> str:
    channels = x[0].shape[1]
    border = [0, 0, layer.pad, layer.pad]
    a, b = (g.pad(v, border, [0, 0, *[layer.pad + layer.stride] * 2]) for v in x)
    sums: dict[int, str] = {}
    for channel, here, there in layer.pairs(g.out[0]):
        pair = [_window(g, v, at) for v, at in ((a, here), (b, there))]
        joint = g.op("Mul", *pair) if layer.multiply else g.op("Abs", g.op("Sub", *pair))
        part = g.reduce("ReduceSum", joint, [1])
        sums[channel] = g.op("Add", sums[channel], part) if channel in sums else part
    total = g.op("Concat", *sums.values(), axis=1) if len(sums) > 1 else sums[0]
    return g.scaled(total, 1 / (layer.kernel**2 * channels))


def _window(g: Graph, x: str, at: Sequence[slice]) -> str:
    rows, columns = at[2:]
    ends = [(s.start, s.stop, axis, s.step) for axis, s in ((2, rows), (3, columns))]
    return g.op("Slice", x, *(g.ints(*column) for column in zip(*ends, strict=True)))
