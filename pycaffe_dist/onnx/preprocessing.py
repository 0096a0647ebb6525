"""`--preprocess`: a model that takes images as they are in a file, and does the rest itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.onnx.export import Exported
from pycaffe_dist.onnx.graph import Graph


@dataclass(frozen=True)
class Preprocess:
    """What a net was trained with: y = scale · (raw_scale · x − mean), channels in its order.

    Attributes:
        mean: none, a number for each channel, or an image (C, H, W), in the net's order.
        scale, raw_scale: factors behind and before the mean.
        swap: whether the net takes BGR, as nets of Caffe do.
    """

    mean: Array | None = None
    scale: float = 1.0
    raw_scale: float = 1.0
    swap: bool = True

    def apply(self, images: Array) -> Array:
        """What the file does to images (N, C, H, W) of the net's own size."""
        x = images[:, ::-1] if self.swap and images.shape[1] == 3 else images
        x = x * np.float32(self.raw_scale)
        if self.mean is not None:
            x = x - _fitting(self.mean, *images.shape[1:])
        return np.asarray(x * np.float32(self.scale), np.float32)


def preprocess(exported: Exported, given: Preprocess, size: Sequence[int], opset: int) -> None:
    """Put in front of the only input: uint8 RGB images (N, H, W, C) of any size."""
    graph = exported.model.graph
    if len(graph.input) != 1:
        names = ", ".join(value.name for value in graph.input)
        raise NetError(f"--preprocess is for nets with one input, this one has {names}")
    target = graph.input[0].name
    _, channels, height, width = size
    g = Graph(opset)
    g.scope = "preprocess"
    for name in [*exported.constants, *(n for node in graph.node for n in node.output), target]:
        g.reserve(name)
    image = g.unique("image")
    x = g.op("Transpose", g.to_float(image), perm=[0, 3, 1, 2])
    if given.swap and channels == 3:
        x = g.op("Gather", x, g.ints(2, 1, 0), axis=1)
    kept = g.slice(g.op("Shape", x), 0, 0, 2)
    sizes = g.op("Concat", kept, g.ints(height, width), axis=0)
    mode = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    x = g.scaled(g.op("Resize", x, "", "", sizes, **mode), given.raw_scale)
    if given.mean is not None:
        x = g.op("Sub", x, g.constant(_fitting(given.mean, channels, height, width)))
    made = g.scaled(x, given.scale)
    g.rename(made, target)
    exported.constants.update(g.constants)
    nodes = [*g.nodes, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    batch = graph.input[0].type.tensor_type.shape.dim[0]
    first = batch.dim_param or batch.dim_value
    info = helper.make_tensor_value_info(image, TensorProto.UINT8, [first, "H", "W", channels])
    graph.input[0].CopyFrom(info)


def _fitting(mean: Array, channels: int, height: int, width: int) -> Array:
    """A mean image is cut to the size of the input, from its middle, as a crop in TEST is."""
    if mean.ndim == 1:
        if mean.size not in (1, channels):
            raise NetError(f"{mean.size} mean values for an input of {channels} channels")
        return mean.reshape(-1, 1, 1)
    if mean.shape[0] != channels or mean.shape[1] < height or mean.shape[2] < width:
        raise NetError(f"the mean image {mean.shape} does not cover {(channels, height, width)}")
    top, left = (mean.shape[1] - height) // 2, (mean.shape[2] - width) // 2
    return np.ascontiguousarray(mean[:, top : top + height, left : left + width])
