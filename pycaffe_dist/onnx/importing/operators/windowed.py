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
    weights = b.needed(op, 1)
    axes = weights.ndim - 2
    group = op.a.get("group", 1)
    strides, dilations = (op.a.get(name, [1] * axes) for name in ("strides", "dilations"))
    pads = op.a.get("pads", [0] * 2 * axes)
    auto = op.a.get("auto_pad", "NOTSET")
    b.refuse(op, auto not in ("NOTSET", "VALID"), f"has auto_pad {auto}")
    b.refuse(op, pads[:axes] != pads[axes:], f"has another padding behind than before: {pads}")
    b.refuse(op, any(op.a.get("output_padding", [])), "has output_padding")
    b.refuse(op, "output_shape" in op.a, "has output_shape")
    layer = b.layer(
        "Deconvolution", b.named(op), op.inputs[:1], op.outputs, _with_bias(b, op, weights)
    )
    p = layer.convolution_param
    p.num_output, p.group = weights.shape[1] * group, group
    _sizes(layer, weights.shape[2:], strides, pads[:axes], dilations)
    p.bias_term = len(op.inputs) > 2 and bool(op.inputs[2])


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


@imports("Resize", "Upsample")
def resize(b: Builder, op: Operator) -> None:
    old, new = b.shape(op, op.inputs[0]), b.shape(op, op.outputs[0])
    mode = op.a.get("mode", "nearest")
    where = op.a.get(
        "coordinate_transformation_mode", "asymmetric" if op.kind == "Upsample" else "half_pixel"
    )
    b.refuse(op, len(old) != 4 or old[:2] != new[:2], "changes other axes than height and width")
    scale = new[2] // old[2]
    whole = new[2] == scale * old[2] and new[3] == scale * old[3] and scale > 0
    floor = op.a.get("nearest_mode", "round_prefer_floor") == "floor" or op.kind == "Upsample"
    if mode == "nearest" and whole and ((where == "asymmetric" and floor) or where == "half_pixel"):
        b.simple("Upsample", op).upsample_param.scale = scale
        return
    b.refuse(op, mode not in ("linear", "bilinear"), f"has the mode {mode} with {where}")
    if where == "align_corners":
        p = b.simple("Interp", op).interp_param
        p.height, p.width = new[2:]
        return
    b.refuse(op, where not in ("asymmetric", "half_pixel", "pytorch_half_pixel"), f"has {where}")
    r = b.simple("ResizeBilinear", op).resize_bilinear_param
    r.output_height, r.output_width = new[2:]
    r.data_format = "NCHW"
    r.half_pixel_centers = where == "half_pixel"
    r.pytorch_half_pixel = where == "pytorch_half_pixel"
