"""Layers that move values without changing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, View
from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.batch_reindex import BatchReindex
from pycaffe_dist.layers.concat import Concat, Slice
from pycaffe_dist.layers.crop import Crop
from pycaffe_dist.layers.filter import Filter
from pycaffe_dist.layers.flatten import Flatten, Reshape, Reshaped
from pycaffe_dist.layers.mobile.shuffle_channel import ShuffleChannel
from pycaffe_dist.layers.ocr.order import Transpose
from pycaffe_dist.layers.rearranged import Rearranged
from pycaffe_dist.layers.segmentation.unpooling import Unpooling
from pycaffe_dist.layers.segmentation.upsample import NearestUpsample, Unpool
from pycaffe_dist.layers.ssd.permute import Permute
from pycaffe_dist.layers.synopsys import tensors
from pycaffe_dist.layers.synopsys.pad import MirrorPad, Pad
from pycaffe_dist.layers.tile import Tile
from pycaffe_dist.layers.yolo.reorg import Reorg
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]


@exports(Reshaped)
def reshaped(g: Graph, layer: Reshaped, x: Values) -> str:
    return g.reshape_to(x[0], g.out[0])


@exports(Reshape)
def reshape(g: Graph, layer: Reshape, x: Values) -> str:
    """As the file has it, where it leaves a size open: that may be another in each pass."""
    p = layer.layer_param.reshape_param
    whole = p.axis == 0 and p.num_axes == -1
    if whole and -1 in p.shape.dim:
        return g.reshape(x[0], list(p.shape.dim))
    return g.reshape_to(x[0], g.out[0])


@exports(Flatten)
def flatten(g: Graph, layer: Flatten, x: Values) -> str:
    """Sizes before the new axis and within may be others in each pass, such as those of boxes."""
    axis = layer.layer_param.flatten_param.axis % len(x[0].shape)
    return g.reshape(x[0], [*[0] * axis, -1, *g.out[0][axis + 1 :]])


@exports(Concat)
def concat(g: Graph, layer: Concat, x: Values) -> str:
    return x[0] if len(x) == 1 else g.op("Concat", *x, axis=layer.axis)


@exports(Slice)
def cut(g: Graph, layer: Slice, x: Values) -> list[str]:
    return g.split(x[0], [shape[layer.axis] for shape in g.out], layer.axis)


@exports(Tile)
def tile(g: Graph, layer: Tile, x: Values) -> str:
    axis = layer.layer_param.tile_param.axis % len(x[0].shape)
    repeats = [1] * len(x[0].shape)
    repeats[axis] = layer.tiles
    return g.op("Tile", x[0], g.ints(*repeats))


@exports(Crop)
def crop(g: Graph, layer: Crop, x: Values) -> str:
    parts = {i: part for i, part in enumerate(layer.inside) if part.start is not None}
    columns = zip(*((part.start, part.stop, i) for i, part in parts.items()), strict=True)
    return g.op("Slice", x[0], *(g.ints(*column) for column in columns))


@exports(Permute, Transpose)
def transpose(g: Graph, layer: Any, x: Values) -> str:
    return g.op("Transpose", x[0], perm=[int(axis) for axis in layer.order])


@exports(Rearranged, Reorg, MirrorPad)
def moved(g: Graph, layer: Layer, x: Values) -> str:
    """Whatever the order is: the layer itself tells it, by moving the numbers of the places."""
    shape, out = x[0].shape, g.out[0]
    if shape[0] == out[0]:
        of_item, size = places(layer, (1, *shape[1:])), int(np.prod(shape[1:]))
        items = np.arange(shape[0])[:, None] * size
        if np.array_equal(places(layer, shape).reshape(shape[0], -1), items + of_item.reshape(-1)):
            flat = g.reshape(x[0], [0, -1])
            taken = g.op("Gather", flat, g.constant(of_item.reshape(-1), np.int64), axis=1)
            return g.reshape(taken, [0, *out[1:]])
    every = g.constant(places(layer, shape).reshape(-1), np.int64)
    return g.reshape(g.op("Gather", g.reshape(x[0], [-1]), every, axis=0), out)


def places(layer: Layer, shape: tuple[int, ...]) -> Array:
    """For each value of the top, where in a bottom of that shape it comes from."""
    bottom, top = (
        View(Blob(size, layer.dtype), layer.context.home, "data") for size in (shape, ())
    )
    layer.reshape([bottom], [top])
    bottom.blob.data[...] = np.arange(bottom.count).reshape(shape)
    layer.forward([bottom], [top])
    return np.rint(top.blob.data).astype(np.int64)


@exports(ShuffleChannel)
def shuffle(g: Graph, layer: ShuffleChannel, x: Values) -> str:
    groups, (_, channels, *sizes) = layer.layer_param.shuffle_channel_param.group, x[0].shape
    apart = g.reshape(x[0], [0, groups, channels // groups, *sizes])
    axes = [0, 2, 1, *range(3, 3 + len(sizes))]
    return g.reshape(g.op("Transpose", apart, perm=axes), [0, channels, *sizes])


@exports(NearestUpsample)
def nearest(g: Graph, layer: NearestUpsample, x: Values) -> str:
    scales = g.constant([1.0, 1.0, layer.scale, layer.scale])
    asymmetric = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return g.op("Resize", x[0], "", scales, mode="nearest", **asymmetric)


@exports(Unpool)
def unpool(g: Graph, layer: Unpool, x: Values) -> str:
    """Values scattered within their planes; Unpooling without a mask has its own places."""
    n, c, h, w = g.out[0]
    count = int(np.prod(x[0].shape[2:]))
    if len(x) > 1:
        places = g.to_int(g.reshape(x[1], [0, 0, count]))
    else:
        places = g.constant(np.broadcast_to(_first_pixels(layer), (n, c, count)), np.int64)
    nothing = g.constant(np.zeros((n, c, h * w), np.float32))
    values = g.reshape(x[0], [0, 0, count])
    return g.reshape(g.op("ScatterElements", nothing, places, values, axis=2), [0, 0, h, w])


def _first_pixels(layer: Any) -> Array:
    """Of each window, as a place in its plane."""
    w = layer.windows
    return (w.starts(0)[:, None] * w.image[1] + w.starts(1)).reshape(1, 1, -1)


@exports(Unpooling)
def unpooling(g: Graph, layer: Unpooling, x: Values) -> str:
    p = layer.layer_param.unpooling_param
    if layer.method == p.MAX:
        return unpool(g, layer, x)
    w, channels = layer.windows, x[0].shape[1]
    ones = g.constant(np.ones((channels, 1, *w.kernel)))
    values = x[0]
    if layer.method == p.AVE:
        values = Value(g.scaled(x[0], layer.shares()))
    y = g.op("ConvTranspose", values, ones, strides=list(w.stride), group=channels)
    covered = [s * (o - 1) + k for s, o, k in zip(w.stride, w.out, w.kernel, strict=True)]
    more = [size - c for size, c in zip(w.image, covered, strict=True)]
    if any(m < 0 for m in more):
        y = g.op("Slice", y, g.ints(0, 0), g.ints(*w.image), g.ints(2, 3))
    if any(m > 0 for m in more):
        y = g.pad(y, [0] * 4, [0, 0, *(max(0, m) for m in more)])
    return y


@exports(BatchReindex)
def reindex(g: Graph, layer: BatchReindex, x: Values) -> str:
    return g.op("Gather", x[0], g.to_int(x[1]), axis=0)


@exports(Filter)
def picked(g: Graph, layer: Filter, x: Values) -> list[str]:
    selector = g.op("Not", g.op("Equal", g.reshape(x[-1], [-1]), g.constant(0.0)))
    return [g.op("Compress", item, selector, axis=0) for item in x[:-1]]


# -- what converters from TensorFlow write -------------------------------------------------------


@exports(tensors.Stack)
def stack(g: Graph, layer: tensors.Stack, x: Values) -> str:
    parts = [g.op("Unsqueeze", item, g.ints(layer.axis)) for item in x]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=layer.axis)


@exports(tensors.Unstack)
def unstack(g: Graph, layer: tensors.Unstack, x: Values) -> list[str]:
    parts = g.split(x[0], [1] * len(g.out), layer.axis)
    return [g.op("Squeeze", part, g.ints(layer.axis)) for part in parts]


@exports(tensors.Gather)
def gather(g: Graph, layer: tensors.Gather, x: Values) -> str:
    taken = g.op("Gather", x[0], g.constant(layer.indices, np.int64), axis=layer.axis)
    return g.reshape(taken, g.out[0])


@exports(tensors.Shape)
def shape(g: Graph, layer: Layer, x: Values) -> str:
    return g.to_float(g.op("Shape", x[0]))


@exports(tensors.MatMul)
def matmul(g: Graph, layer: tensors.MatMul, x: Values) -> str:
    axes = [*range(len(x[0].shape))]
    turned = [*axes[:-2], axes[-1], axes[-2]]
    sides = [
        g.op("Transpose", side, perm=turned) if flipped else side
        for side, flipped in zip(x, layer.flipped, strict=True)
    ]
    return g.op("MatMul", *sides)


@exports(Pad)
def pad(g: Graph, layer: Pad, x: Values) -> str:
    begin, end = zip(*layer.margins, strict=True)
    return g.pad(x[0], begin, end, float(layer.param.constant_values))
