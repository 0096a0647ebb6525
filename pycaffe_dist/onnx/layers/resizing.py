"""Images at another size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.layers.flow.accum import Accum
from pycaffe_dist.layers.flow.resample import Downsample, Resample
from pycaffe_dist.layers.segmentation.interp import Interp
from pycaffe_dist.layers.synopsys.resize import Resize
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]


@exports(Interp)
def interp(g: Graph, layer: Interp, x: Values) -> str:
    source, p = str(x[0]), layer.layer_param.interp_param
    if p.pad_beg or p.pad_end:
        ends = [
            (part.start, part.stop, axis) for axis, part in zip((2, 3), layer.kept, strict=True)
        ]
        source = g.op("Slice", source, *(g.ints(*column) for column in zip(*ends, strict=True)))
    return _linear(g, source, g.out[0])


@exports(Accum)
def accum(g: Graph, layer: Accum, x: Values) -> str:
    parts = [_linear(g, item, g.out[0]) for item in x[: len(layer.ends)]]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=1)


def _linear(g: Graph, x: str, shape: Sequence[int]) -> str:
    """Outermost points on outermost pixels."""
    mode = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    return g.op("Resize", x, "", "", _sizes(g, x, shape), **mode)


def _sizes(g: Graph, x: str, shape: Sequence[int]) -> str:
    """The batch and the channels of x, and the height and width of ``shape``."""
    kept = g.slice(g.op("Shape", x), 0, 0, 2)
    return g.op("Concat", kept, g.ints(*shape[2:]), axis=0)


@exports(Resample)
def resample(g: Graph, layer: Resample, x: Values) -> str:
    return _by_matrices(g, x[0], layer.matrices)


@exports(Downsample)
def downsample(g: Graph, layer: Downsample, x: Values) -> str:
    """Pixels that are NaN are not counted apart, as no ordinary image has any."""
    if x[0].shape == g.out[0]:
        return x[0]
    down, across = layer.matrices
    shares = [m / m.sum(axis=1, keepdims=True) for m in (down, across)]
    return _by_matrices(g, x[0], shares)


@exports(Resize)
def resize(g: Graph, layer: Resize, x: Values) -> str:
    """Along each axis the mean of two pixels, which the layer has found."""
    y = str(x[0])
    for axis, (_, _, first, second, weights) in zip(layer.axes, layer.along, strict=True):
        pair = [g.op("Gather", y, g.constant(t, np.int64), axis=axis) for t in (first, second)]
        shape = (-1, *[1] * (3 - axis))
        parts = [g.scaled(v, w.reshape(shape)) for v, w in zip(pair, weights, strict=True)]
        y = g.op("Add", *parts) if weights[1].any() else parts[0]
    return y


def _by_matrices(g: Graph, x: str, matrices: Sequence[Array]) -> str:
    """y = down · x · acrossᵀ for every plane."""
    down, across = matrices
    return g.op("MatMul", g.op("MatMul", g.constant(down), x), g.constant(across.T))
