"""Layers of forks written with BVLC Caffe's own, and their weights with them.

Each rule turns a layer into a few that compute the same; the last of them has its tops, and the
blobs of the old layer are dealt out among the new ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.layers.changed.batch_norm import LEAST_EPS
from pycaffe_dist.layers.convolution import Convolution
from pycaffe_dist.proto.aliases import in_bvlc_words
from pycaffe_dist.proto.bvlc import without_dialects
from pycaffe_dist.proto.caffe_pb2 import (
    TEST,
    TRAIN,
    BNParameter,
    EltwiseParameter,
    FillerParameter,
    LayerParameter,
    NetParameter,
    NetState,
)
from pycaffe_dist.proto.nets import NetFile
from pycaffe_dist.proto.weights import read_weights, write_weights
from pycaffe_dist.registry import layer_types, reading
from pycaffe_dist.tools.model import dry_net

Blobs = Sequence[Array]
Deal = Callable[[Blobs], list[list[Array]]]
Rule = Callable[[LayerParameter], "Plain | None"]  # None: this layer has no equivalent
RULES: dict[tuple[str, str], Rule] = {}  # by type and dialect


@dataclass
class Plain:
    """The layers for one of a fork, and how its blobs are dealt out among them."""

    layers: list[LayerParameter]
    deal: Deal = lambda blobs: [list(blobs)]


def rule(type: str, dialect: str = "bvlc") -> Callable[[Rule], Rule]:
    def add(function: Rule) -> Rule:
        RULES[type, dialect] = function
        return function

    return add


def to_bvlc(net: NetParameter) -> tuple[dict[str, Deal], list[str]]:
    """Rewrite an upgraded net in place.

    Returns:
        How the blobs of layers are dealt out, by their old name; and what has no equivalent.
    """
    deals: dict[str, Deal] = {}
    left = []
    _say_channels(net)
    old = list(net.layer)
    net.ClearField("layer")
    known = layer_types()
    for layer in old:
        plain = in_bvlc_words(layer)
        dialect = reading(layer).dialect if layer.type in known else "bvlc"
        found = RULES.get((layer.type, dialect))
        if new := found(plain) if found else None:
            deals[layer.name] = new.deal
        else:
            new = Plain([plain])
            if layer.type not in known or known[layer.type].__module__.count(".") > 2:
                left.append(f'layer "{layer.name}": {layer.type} has no equivalent')
        net.layer.extend(_kept(new.layers, layer))
    gone = [] if left else without_dialects(net)
    return deals, left + [f"{where} is left out" for where in dict.fromkeys(gone)]


def _kept(layers: list[LayerParameter], old: LayerParameter) -> list[LayerParameter]:
    """The layers with the old one's phase and rules."""
    for layer in layers:
        if layer is not old and not layer.include and not layer.exclude:
            layer.include.extend(old.include)
            layer.exclude.extend(old.exclude)
    return layers


def convert_weights(
    source: str | os.PathLike[str], target: str, net: NetParameter, deals: dict[str, Deal]
) -> None:
    """Write the weights of the old net under the names of ``net``."""
    found = {layer.name: layer for layer in read_weights(source).layers}
    blobs: dict[str, list[Array]] = {}
    for name, layer in found.items():
        values = [blob.data for blob in layer.blobs if blob is not None]
        if not values:
            continue
        parts = deals[name](values) if name in deals else [values]
        for i, part in enumerate(parts):
            blobs[_name(name, i)] = part
    names = {layer.name for layer in net.layer}
    if not names & set(blobs):
        raise FileError(f"{source}: has no weights of this net's layers")
    write_weights(target, net, [blobs.get(layer.name, []) for layer in net.layer])


def _name(name: str, i: int) -> str:
    return name if i == 0 else f"{name}/{i}"


# -- rules -----------------------------------------------------------------------------------------


def _chain(old: LayerParameter, *steps: LayerParameter) -> list[LayerParameter]:
    """Steps one after the other, from the old layer's first bottom to its first top.

    All work in place where the old layer does: no other may make a blob that is there already.
    """
    bottom = old.bottom[0]
    for i, step in enumerate(steps):
        step.name = _name(old.name, i)
        if not step.bottom:
            step.bottom.append(bottom)
        last = i == len(steps) - 1
        step.top.append(old.top[0] if last or _in_place(old) else f"{old.name}/{i}")
        bottom = step.top[0]
    return list(steps)


def _in_place(old: LayerParameter) -> bool:
    return old.top[0] == old.bottom[0]


def _say_channels(net: NetParameter) -> None:
    """Write the group and num_output of ConvolutionDepthwise down: they are the bottom's channels,
    whatever the file says.
    """
    own = [layer for layer in net.layer if layer.type == "ConvolutionDepthwise"]
    channels: dict[str, int] = {}
    for phase in (TEST, TRAIN) if own else ():
        with suppress(PcdError):
            sketch = dry_net(NetFile(net, "", []), NetState(phase=phase))
            built = [layer for layer in sketch.layers if isinstance(layer, Convolution)]
            channels |= {la.name: la.layer_param.convolution_param.num_output for la in built}
    for layer in own:
        p = layer.convolution_param
        p.group = p.num_output = channels.get(layer.name, p.num_output)


@rule("DepthwiseConvolution")
@rule("ConvolutionDepthwise")
def _grouped(old: LayerParameter) -> Plain | None:
    if not old.convolution_param.num_output:
        return None
    new = LayerParameter()
    new.CopyFrom(old)
    new.type = "Convolution"
    return Plain([new])


@rule("ReLU6")
def _relu6(old: LayerParameter) -> Plain | None:
    if old.relu6_param.negative_slope:
        return None
    clip = LayerParameter(type="Clip")
    clip.clip_param.min, clip.clip_param.max = 0, 6
    return Plain(_chain(old, clip))


@rule("Softplus")
def _softplus(old: LayerParameter) -> Plain:
    return Plain(_chain(old, LayerParameter(type="BNLL")))


@rule("HardSigmoid")
def _hard_sigmoid(old: LayerParameter) -> Plain:
    p = old.hard_sigmoid_param
    line, clip = _power(p.alpha, p.beta), LayerParameter(type="Clip")
    clip.clip_param.min, clip.clip_param.max = 0, 1
    return Plain(_chain(old, line, clip))


@rule("HardSwish")
def _hard_swish(old: LayerParameter) -> Plain | None:
    if _in_place(old):  # its bottom is read again at the end
        return None
    clip = LayerParameter(type="Clip")
    clip.clip_param.min, clip.clip_param.max = 0, 6
    product = LayerParameter(type="Eltwise", bottom=[old.bottom[0], f"{old.name}/1"])
    product.eltwise_param.operation = EltwiseParameter.PROD
    return Plain(_chain(old, _power(1, 3), clip, product, _power(1 / 6, 0)))


@rule("NegReLU")
def _neg_relu(old: LayerParameter) -> Plain:
    relu = LayerParameter(type="ReLU")
    relu.relu_param.negative_slope = old.relu_param.negative_slope
    return Plain(_chain(old, _power(-1, 0), relu, _power(-1, 0)))


@rule("Eltwise", "flownet")
def _scaled_bottom(old: LayerParameter) -> Plain:
    return Plain(_chain(old, _power(old.eltwise_param.coeff[0], 0)))


@rule("Axpy")
def _axpy(old: LayerParameter) -> Plain | None:
    """a·x + y: the scales as (N, C), then Scale, then a sum."""
    if old.top[0] in old.bottom:
        return None
    a, x, y = old.bottom
    scale = LayerParameter(type="Scale", bottom=[x, f"{old.name}/0"])
    scale.scale_param.axis = 0
    total = LayerParameter(type="Eltwise", bottom=[f"{old.name}/1", y])
    return Plain(_chain(old, LayerParameter(type="Flatten", bottom=[a]), scale, total))


@rule("BN", "psp")
def _bn(old: LayerParameter) -> Plain:
    """Slope, bias, mean, variance: a BatchNorm of mean, variance, 1, and a Scale."""
    p = old.bn_param
    norm = LayerParameter(type="BatchNorm")
    norm.batch_norm_param.eps = p.eps
    norm.batch_norm_param.moving_average_fraction = p.momentum
    if p.frozen:
        norm.batch_norm_param.use_global_stats = True
    layers = _chain(old, norm, _scale(old, p.slope_filler, p.bias_filler))
    one = np.ones(1, np.float32)
    return Plain(
        layers,
        lambda b: [[b[2].reshape(-1), b[3].reshape(-1), one], [v.reshape(-1) for v in b[:2]]],
    )


@rule("BN", "segnet")
def _segnet_bn(old: LayerParameter) -> Plain:
    """LEARN: statistics of the batch in either phase; INFERENCE: scale and shift alone."""
    p = old.bn_param
    scale = _scale(old, p.scale_filler, p.shift_filler)
    if p.bn_mode == BNParameter.INFERENCE:
        return Plain(_chain(old, scale), lambda b: [[v.reshape(-1) for v in b]])
    norm = LayerParameter(type="BatchNorm")
    norm.batch_norm_param.eps = 1e-9
    norm.batch_norm_param.use_global_stats = False

    def deal(b: Blobs) -> list[list[Array]]:
        zeros = np.zeros(b[0].size, np.float32)
        return [[zeros, zeros, np.zeros(1, np.float32)], [v.reshape(-1) for v in b]]

    return Plain(_chain(old, norm, scale), deal)


@rule("BatchNorm", "nvcaffe")
def _nv_batch_norm(old: LayerParameter) -> Plain:
    """NVCaffe's ends with a scale and a bias of its own."""
    p = old.batch_norm_param
    norm = LayerParameter(type="BatchNorm")
    norm.batch_norm_param.eps = max(p.eps, LEAST_EPS)
    norm.batch_norm_param.moving_average_fraction = p.moving_average_fraction
    if p.HasField("use_global_stats"):
        norm.batch_norm_param.use_global_stats = p.use_global_stats
    filler = p.scale_filler if p.HasField("scale_filler") else FillerParameter(value=1)
    layers = _chain(old, norm, _scale(old, filler, p.bias_filler))
    return Plain(layers, lambda b: [list(b[:3]), list(b[3:])])


def _power(scale: float, shift: float) -> LayerParameter:
    layer = LayerParameter(type="Power")
    layer.power_param.scale, layer.power_param.shift = scale, shift
    return layer


def _scale(old: LayerParameter, scale: object, bias: object) -> LayerParameter:
    layer = LayerParameter(type="Scale", param=old.param[:2])
    layer.scale_param.bias_term = True
    layer.scale_param.filler.CopyFrom(scale)  # type: ignore[arg-type]
    layer.scale_param.bias_filler.CopyFrom(bias)  # type: ignore[arg-type]
    return layer
