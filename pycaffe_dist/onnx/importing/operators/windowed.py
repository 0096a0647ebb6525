"""Operators that look at windows of an image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.onnx.importing.build import Builder, imports
from pycaffe_dist.onnx.importing.model import Operator
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, PoolingParameter

LOWEST = -float(np.finfo(np.float32).max)


@imports("Conv")
def convolution(b: Builder, op: Operator) -> None:
    weights = b.needed(op, 1)
    axes = weights.ndim - 2
    b.refuse(op, axes < 1, "has no spatial axes")
    kernel = weights.shape[2:]
    strides, dilations = (op.a.get(name, [1] * axes) for name in ("strides", "dilations"))
    extent = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    begin, end = _pads(b, op, extent, strides)
    source = _padded(b, op, begin, end, 0.0) if begin != end else op.inputs[0]
    layer = b.layer("Convolution", b.named(op), [source], op.outputs, _with_bias(b, op, weights))
    p = layer.convolution_param
    p.num_output, p.group = len(weights), op.a.get("group", 1)
    _sizes(layer, kernel, strides, begin if begin == end else [0] * axes, dilations)
    p.bias_term = len(op.inputs) > 2 and bool(op.inputs[2])


@imports("ConvTranspose")
def deconvolution(b: Builder, op: Operator) -> None:
    """Padding cuts off rows: the same before and behind by the layer, others by a slice."""
    weights = b.needed(op, 1)
    axes = weights.ndim - 2
    group = op.a.get("group", 1)
    strides, dilations = (op.a.get(name, [1] * axes) for name in ("strides", "dilations"))
    old, new = (b.shape(op, name)[2:] for name in (op.inputs[0], op.outputs[0]))
    extent = [d * (k - 1) + 1 for d, k in zip(dilations, weights.shape[2:], strict=True)]
    whole = [s * (n - 1) + e for s, n, e in zip(strides, old, extent, strict=True)]
    begin = _cut_before(b, op, whole, new)
    end = [w - n - c for w, n, c in zip(whole, new, begin, strict=True)]
    b.refuse(op, min(*begin, *end) < 0, "makes more than its windows reach")
    target, name = op.outputs[0], b.named(op)
    if begin != end:
        target = b.between(op, "whole", (*b.shape(op, op.outputs[0])[:2], *whole))
        name = f"{name}/whole"
    values = _with_bias(b, op, weights)
    layer = b.layer("Deconvolution", name, op.inputs[:1], [target], values)
    p = layer.convolution_param
    p.num_output, p.group = weights.shape[1] * group, group
    _sizes(layer, weights.shape[2:], strides, begin if begin == end else [0] * axes, dilations)
    p.bias_term = len(values) > 1
    if begin != end:
        cut = b.layer("StridedSlice", b.named(op), [target], op.outputs).strided_slice_param
        cut.begin[:], cut.end[:] = [0, 0, *begin], b.shape(op, op.outputs[0])[:2]
        cut.end.extend(c + n for c, n in zip(begin, new, strict=True))
        cut.strides[:] = [1] * (axes + 2)


def _cut_before(b: Builder, op: Operator, whole: Sequence[int], new: Sequence[int]) -> list[int]:
    """How many rows before the first that is kept; what is cut behind follows from the sizes."""
    auto = op.a.get("auto_pad", "NOTSET")
    if "output_shape" not in op.a and auto in ("NOTSET", "VALID"):
        return [int(p) for p in op.a.get("pads", [0] * len(new))][: len(new)]
    cut = [w - n for w, n in zip(whole, new, strict=True)]
    return [c // 2 if auto == "SAME_UPPER" else c - c // 2 for c in cut]


def _with_bias(b: Builder, op: Operator, weights: Array) -> list[Array]:
    given = len(op.inputs) > 2 and op.inputs[2]
    return [weights, b.needed(op, 2)] if given else [weights]


def _sizes(
    layer: LayerParameter,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
) -> None:
    """One number where all are equal, and none where that is the default."""
    p = layer.convolution_param
    named = (
        (p.kernel_size, kernel, 0),
        (p.stride, strides, 1),
        (p.pad, pads, 0),
        (p.dilation, dilations, 1),
    )
    for field, values, default in named:
        if any(v != default for v in values):
            field.extend(values[:1] if len(set(values)) == 1 else values)


def _pads(
    b: Builder, op: Operator, extent: Sequence[int], strides: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Before and behind, for each spatial axis."""
    axes = len(extent)
    auto = op.a.get("auto_pad", "NOTSET")
    if auto in ("NOTSET", "VALID"):
        pads = [int(p) for p in op.a.get("pads", [0] * 2 * axes)]
        b.refuse(op, min(pads) < 0, f"has negative padding: {pads}")
        return pads[:axes], pads[axes:]
    shape = b.shape(op, op.inputs[0])[2:]
    begin, end = [], []
    for size, e, s in zip(shape, extent, strides, strict=True):
        total = max(0, (-(-size // s) - 1) * s + e - size)
        half = total // 2
        begin.append(half if auto == "SAME_UPPER" else total - half)
        end.append(total - begin[-1])
    return begin, end


def _padded(
    b: Builder, op: Operator, begin: Sequence[int], end: Sequence[int], value: float
) -> str:
    """A Pad layer in front: Caffe's own padding is the same on both sides."""
    shape = b.shape(op, op.inputs[0])
    widths = [(0, 0), (0, 0), *zip(begin, end, strict=True)]
    name = b.between(op, "padded", [s + sum(w) for s, w in zip(shape, widths, strict=True)])
    layer = b.layer("Pad", f"{b.named(op)}/pad", op.inputs[:1], [name])
    layer.pad_param.paddings[:] = [n for pair in widths for n in pair]
    layer.pad_param.constant_values = value
    return name


@imports("MaxPool", "AveragePool")
def pooling(b: Builder, op: Operator) -> None:
    kernel = [int(k) for k in op.a["kernel_shape"]]
    b.refuse(op, len(kernel) != 2, f"has {len(kernel)} spatial axes; Pooling has 2")
    b.refuse(op, any(d != 1 for d in op.a.get("dilations", [1])), "has dilations")
    b.refuse(
        op, len(op.outputs) > 1 and op.outputs[1] in b.model.consumers, "has indices that are read"
    )
    strides = [int(s) for s in op.a.get("strides", [1, 1])]
    begin, end = _pads(b, op, kernel, strides)
    mean, ceil = op.kind == "AveragePool", bool(op.a.get("ceil_mode", 0))
    counts = bool(op.a.get("count_include_pad", 0))
    source, pads = op.inputs[0], begin
    if not mean and not ceil and begin != end:  # the same windows with the same padding, if so
        old, new = b.shape(op, source), b.shape(op, op.outputs[0])[2:]
        sizes = [_sizes_of(old, begin, kernel, strides, up) for up in (False, True)]
        ceil, end = (sizes[0] != new, begin) if new in sizes else (False, end)
    if begin != end or any(p >= k for p, k in zip(begin, kernel, strict=True)):
        b.refuse(
            op, mean and not counts, "has another padding behind than before, which is not counted"
        )
        source, pads = _padded(b, op, begin, end, 0.0 if mean else LOWEST), [0, 0]
    p = b.layer("Pooling", b.named(op), [source], op.outputs[:1]).pooling_param
    p.pool = PoolingParameter.AVE if mean else PoolingParameter.MAX
    for name, (h, w), default in (("kernel", kernel, 0), ("stride", strides, 1), ("pad", pads, 0)):
        if h == w and h != default:
            setattr(p, "kernel_size" if name == "kernel" else name, h)
        elif h != w:
            setattr(p, f"{name}_h", h)
            setattr(p, f"{name}_w", w)
    if not ceil:
        p.round_mode = PoolingParameter.FLOOR
    if mean and any(pads) and not counts:
        p.avg_include_pad = False


def _sizes_of(
    shape: Sequence[int],
    pads: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    up: bool,
) -> tuple[int, ...]:
    """Of Caffe's Pooling, which if it rounds up leaves out a window that begins in the padding."""
    found = []
    for size, pad, k, stride in zip(shape[2:], pads, kernel, strides, strict=True):
        room = size + 2 * pad - k
        count = (-(-room // stride) if up else room // stride) + 1
        found.append(count - (up and pad > 0 and (count - 1) * stride >= size + pad))
    return tuple(found)


@imports("GlobalAveragePool", "GlobalMaxPool")
def global_pooling(b: Builder, op: Operator) -> None:
    p = b.simple("Pooling", op).pooling_param
    p.pool = PoolingParameter.AVE if op.kind == "GlobalAveragePool" else PoolingParameter.MAX
    p.global_pooling = True


@imports("LRN")
def lrn(b: Builder, op: Operator) -> None:
    p = b.simple("LRN", op).lrn_param
    p.local_size = op.a["size"]
    p.alpha, p.beta, p.k = op.a.get("alpha", 1e-4), op.a.get("beta", 0.75), op.a.get("bias", 1.0)


@imports("MaxRoiPool")
def roi_pooling(b: Builder, op: Operator) -> None:
    p = b.layer("ROIPooling", b.named(op), op.inputs, op.outputs).roi_pooling_param
    p.pooled_h, p.pooled_w = (int(n) for n in op.a["pooled_shape"])
    p.spatial_scale = op.a.get("spatial_scale", 1.0)
