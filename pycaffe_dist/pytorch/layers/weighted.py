"""Layers with weights, and those that look at windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.bias import Bias
from pycaffe_dist.layers.convolution import BaseConvolution, Deconvolution
from pycaffe_dist.layers.embed import Embed
from pycaffe_dist.layers.inner_product import InnerProduct
from pycaffe_dist.layers.lrn import LRN
from pycaffe_dist.layers.pooling import Maximum, Mean, Pooling
from pycaffe_dist.layers.prelu import PReLU
from pycaffe_dist.layers.scale import Scale
from pycaffe_dist.layers.segmentation.bn import RunningBN
from pycaffe_dist.layers.segmentation.interp import Interp
from pycaffe_dist.layers.segmentation.upsample import NearestUpsample
from pycaffe_dist.layers.ssd.normalize import Normalize
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.pytorch.forms import writes
from pycaffe_dist.pytorch.module import Module
from pycaffe_dist.pytorch.text import arguments, number, sizes

X = list[str]


# -- weights ---------------------------------------------------------------------------------------


@writes(BaseConvolution)
def convolution(m: Module, layer: BaseConvolution, x: X) -> str | list[str]:
    w = layer.windows
    if layer.axis != 1 or not 1 <= layer.spatial <= 3:
        raise layer.error("has no form in PyTorch here with other axes than (N, C, sizes)")
    flipped = isinstance(layer, Deconvolution)
    for out, s, extent, size, p in zip(w.out, w.stride, w.extent, w.image, w.pad, strict=True):
        if not flipped and (out - 1) * s + extent > size + 2 * p:
            raise layer.error("has windows that reach over the image, which PyTorch has not")
    biased = len(layer.blobs) > 1
    more = arguments(
        stride=None if set(w.stride) == {1} else sizes(w.stride),
        padding=None if not any(w.pad) else sizes(w.pad),
        dilation=None if set(w.dilation) == {1} else sizes(w.dilation),
        groups=None if layer.group == 1 else layer.group,
        bias=None if biased else False,
    )
    kind = f"nn.Conv{'Transpose' * flipped}{layer.spatial}d"
    call = f"{kind}({layer.channels}, {layer.outputs}, {sizes(w.kernel)}{more})"
    made = m.submodule(call, weight=0, **({"bias": 1} if biased else {}))
    return f"{made}({x[0]})" if len(x) == 1 else [f"{made}({one})" for one in x]


@writes(InnerProduct)
def inner_product(m: Module, layer: InnerProduct, x: X) -> str:
    if layer.transpose:
        raise layer.error("has no form in PyTorch here with transpose: true")
    biased = len(layer.blobs) > 1
    call = f"nn.Linear({layer.inputs}, {layer.outputs}{'' if biased else ', bias=False'})"
    made = m.submodule(call, weight=0, **({"bias": 1} if biased else {}))
    flat = len(m.net.blobs[m.net.blob_ids[layer.layer_param.bottom[0]]].shape) == layer.axis + 1
    return f"{made}({x[0] if flat else f'{x[0]}.flatten({layer.axis})'})"


@writes(Embed)
def embed(m: Module, layer: Embed, x: X) -> str:
    rows, width = layer.blobs[0].shape
    if len(layer.blobs) > 1:
        raise layer.error("has no form in PyTorch here with a bias")
    return f"{m.submodule(f'nn.Embedding({rows}, {width})', weight=0)}({x[0]}.long())"


@writes(PReLU)
def prelu(m: Module, layer: PReLU, x: X) -> str:
    return f"{m.submodule(f'nn.PReLU({layer.blobs[0].count})', weight=0)}({x[0]})"


@writes(BatchNorm)
def batch_norm(m: Module, layer: BatchNorm, x: X) -> str:
    made = _norm(m, layer, x, affine=False)
    return f"{made}({x[0]})"


@writes(RunningBN)
def running_bn(m: Module, layer: RunningBN, x: X) -> str:
    return f"{_norm(m, layer, x, affine=True)}({x[0]})"


def _norm(m: Module, layer: BatchNorm, x: X, affine: bool) -> str:
    axes = len(m.out[0])
    kind = {2: 1, 3: 1, 4: 2, 5: 3}.get(axes)
    if kind is None:
        raise layer.error(f"has no form in PyTorch here with {axes} axes")
    kept = bool(layer.use_global_stats)
    more = arguments(
        eps=number(layer.eps),
        momentum=f"{round(1 - layer.moving_average_fraction, 6):g}",
        affine=None if affine else False,
        track_running_stats=None if kept else False,
    )
    blobs = {"weight": 0, "bias": 1} if affine else {}
    made = m.submodule(f"nn.BatchNorm{kind}d({layer.channels}{more})", **blobs)
    if kept:
        mean, variance = (np.array(v).reshape(-1) for v in layer._stored())
        count = np.array(0, np.int64)
        m.buffer(made, running_mean=mean, running_var=variance, num_batches_tracked=count)
    return made


@writes(Scale, Bias)
def scale(m: Module, layer: Any, x: X) -> str:
    """Of a Bias the shift alone; the factor may be a bottom."""
    only_shift = isinstance(layer, Bias)
    if only_shift and len(x) > 1:
        return f"{m.submodule(_scale(m, (), layer.axis, False, False))}({x[0]}) + {x[1]}"
    biased = only_shift or layer.bias_term
    own = not only_shift and len(x) == 1
    if not layer.blobs:
        return f"{m.submodule(_scale(m, (), layer.axis, False, False))}({', '.join(x)})"
    blobs = {"weight": 0} if own else {}
    blobs |= {"bias": len(layer.blobs) - 1} if biased else {}
    axis = layer.axis % len(m.out[0])
    call = _scale(m, layer.blobs[0].shape, axis, own, biased)
    return f"{m.submodule(call, **blobs)}({', '.join(x)})"


def _scale(m: Module, shape: tuple[int, ...], axis: int, weight: bool, bias: bool) -> str:
    more = arguments(
        axis=None if axis == 1 else axis,
        weight=None if weight else False,
        bias=None if bias else False,
    )
    return f"{m.part('Scale')}({', '.join(map(str, shape))}{more})".replace("(, ", "(")


@writes(Normalize)
def normalize(m: Module, layer: Normalize, x: X) -> str:
    p = layer.layer_param.norm_param
    more = arguments(whole=True if p.across_spatial else None, eps=number(p.eps))
    shape = ", ".join(map(str, layer.blobs[0].shape))
    call = f"{m.part('Normalize')}({shape}{more})".replace("(, ", "(")
    return f"{m.submodule(call, weight=0)}({x[0]})"


# -- windows ---------------------------------------------------------------------------------------


@writes(Pooling)
def pooling(m: Module, layer: Pooling, x: X) -> str:
    largest = isinstance(layer.method, Maximum)
    if (not largest and not isinstance(layer.method, Mean)) or len(m.out) > 1:
        raise layer.error("has no form in PyTorch here but as MAX or AVE with one top")
    if layer.everything:
        return f"{x[0]}.{'amax' if largest else 'mean'}((2, 3), keepdim=True)"
    w = layer.windows
    rounded = [-(-(n + 2 * p - k) // s) for n, p, k, s in _sides(w)]
    ends = [(out - 1) * s >= n + p for out, (n, p, _, s) in zip(w.out, _sides(w), strict=True)]
    if any(ends) or any(2 * p > k for _, p, k, _ in _sides(w)):
        raise layer.error("has windows in the padding alone, which PyTorch has not")
    floored = [(n + 2 * p - k) // s + 1 for n, p, k, s in _sides(w)]
    up = list(w.out) != floored and any(r + 1 != f for r, f in zip(rounded, floored, strict=True))
    more = arguments(padding=sizes(w.pad) if any(w.pad) else None, ceil_mode=True if up else None)
    call = "F.max_pool2d" if largest else "F.avg_pool2d"
    return f"{call}({x[0]}, {sizes(w.kernel)}, {sizes(w.stride)}{more})"


def _sides(w: Windows) -> list[tuple[int, int, int, int]]:
    return list(zip(w.image, w.pad, w.kernel, w.stride, strict=True))


@writes(LRN)
def lrn(m: Module, layer: LRN, x: X) -> str:
    alpha = number(layer.layer_param.lrn_param.alpha)
    if layer.across:
        return (
            f"F.local_response_norm({x[0]}, {layer.size}, alpha={alpha}, "
            f"beta={number(layer.beta)}, k={number(layer.k)})"
        )
    return f"{m.part('local_response')}({x[0]}, {layer.size}, {alpha}, {number(layer.beta)})"


@writes(Interp)
def interp(m: Module, layer: Interp, x: X) -> str:
    p, source = layer.layer_param.interp_param, x[0]
    if p.pad_beg or p.pad_end:
        rows, columns = (f"{part.start or 0}:{part.stop}" for part in layer.kept)
        source = f"{source}[:, :, {rows}, {columns}]"
    size = tuple(m.out[0][2:])
    return f'F.interpolate({source}, {size}, mode="bilinear", align_corners=True)'


@writes(NearestUpsample)
def nearest(m: Module, layer: NearestUpsample, x: X) -> str:
    return f"F.interpolate({x[0]}, scale_factor={layer.scale})"
