"""Layers without weights: curves, sums, shapes."""

from __future__ import annotations

from typing import Any

from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.absval import AbsVal
from pycaffe_dist.layers.argmax import ArgMax
from pycaffe_dist.layers.bnll import BNLL
from pycaffe_dist.layers.clip import Clip
from pycaffe_dist.layers.concat import Concat, Slice
from pycaffe_dist.layers.crop import Crop
from pycaffe_dist.layers.dropout import Dropout
from pycaffe_dist.layers.eltwise import Eltwise
from pycaffe_dist.layers.elu import ELU
from pycaffe_dist.layers.exponential import Exp, Log
from pycaffe_dist.layers.flatten import Reshaped
from pycaffe_dist.layers.mobile import curves
from pycaffe_dist.layers.mobile.axpy import Axpy
from pycaffe_dist.layers.mobile.relu6 import ReLU6
from pycaffe_dist.layers.mobile.shuffle_channel import ShuffleChannel
from pycaffe_dist.layers.mvn import MVN
from pycaffe_dist.layers.ocr.order import Transpose
from pycaffe_dist.layers.power import Power
from pycaffe_dist.layers.reduction import Reduction
from pycaffe_dist.layers.relu import ReLU
from pycaffe_dist.layers.sigmoid import Sigmoid, Swish
from pycaffe_dist.layers.softmax import Softmax
from pycaffe_dist.layers.split import Split
from pycaffe_dist.layers.ssd.permute import Permute
from pycaffe_dist.layers.tanh import TanH
from pycaffe_dist.layers.tile import Tile
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter, ReductionParameter
from pycaffe_dist.pytorch.forms import writes
from pycaffe_dist.pytorch.module import Module
from pycaffe_dist.pytorch.text import line, number

X = list[str]
ONE_CALL = {
    Sigmoid: "torch.sigmoid",
    TanH: "torch.tanh",
    AbsVal: "torch.abs",
    BNLL: "F.softplus",
    curves.Softplus: "F.softplus",
    curves.Softsign: "F.softsign",
    curves.HardSwish: "F.hardswish",
    curves.Mish: "F.mish",
    ReLU6: "F.relu6",
}


# -- each value ------------------------------------------------------------------------------------


@writes(*ONE_CALL)
def one_call(m: Module, layer: Layer, x: X) -> str:
    return f"{next(call for cls, call in ONE_CALL.items() if isinstance(layer, cls))}({x[0]})"


@writes(ReLU)
def relu(m: Module, layer: ReLU, x: X) -> str:
    return f"F.leaky_relu({x[0]}, {number(layer.slope)})" if layer.slope else f"F.relu({x[0]})"


@writes(ELU)
def elu(m: Module, layer: ELU, x: X) -> str:
    return f"F.elu({x[0]}, {number(layer.alpha)})"


@writes(Swish)
def swish(m: Module, layer: Swish, x: X) -> str:
    return f"{x[0]} * torch.sigmoid({number(layer.beta)} * {x[0]})"


@writes(Clip)
def clip(m: Module, layer: Clip, x: X) -> str:
    return f"{x[0]}.clamp({number(layer.min)}, {number(layer.max)})"


@writes(curves.HardSigmoid)
def hard_sigmoid(m: Module, layer: curves.HardSigmoid, x: X) -> str:
    return f"({number(layer.alpha)} * {x[0]} + {number(layer.beta)}).clamp(0, 1)"


@writes(Power)
def power(m: Module, layer: Power, x: X) -> str:
    inside = line(x[0], layer.scale, layer.shift)
    return inside if layer.power == 1 else f"({inside}) ** {number(layer.power)}"


@writes(Exp)
def exponential(m: Module, layer: Exp, x: X) -> str:
    return line(f"torch.exp({line(x[0], layer.inner_scale, 0)})", layer.outer_scale, 0)


@writes(Log)
def logarithm(m: Module, layer: Log, x: X) -> str:
    inside = line(x[0], layer.input_scale, layer.input_shift)
    return line(f"torch.log({inside})", layer.base_scale, 0)


@writes(Dropout)
def dropout(m: Module, layer: Dropout, x: X) -> str:
    if layer.draws or layer.share != 1:
        raise layer.error("has no form in PyTorch here: it changes values in TEST too")
    ratio = number(layer.layer_param.dropout_param.dropout_ratio)
    return f"F.dropout({x[0]}, {ratio}, self.training)"


# -- several blobs, and their shapes ---------------------------------------------------------------


@writes(Split)
def split(m: Module, layer: Split, x: X) -> list[str]:
    return [x[0]] * len(m.out)


@writes(Eltwise)
def eltwise(m: Module, layer: Eltwise, x: X) -> str:
    if layer.layer_param.top[0] == layer.layer_param.bottom[0]:
        raise layer.error("has no form in PyTorch here in place")
    if layer.operation == EltwiseParameter.MAX:
        y = x[0]
        for other in x[1:]:
            y = f"torch.maximum({y}, {other})"
        return y
    if layer.operation == EltwiseParameter.PROD:
        return " * ".join(x)
    return " + ".join(line(v, c, 0) for v, c in zip(x, layer.coeffs, strict=True))


@writes(Axpy)
def axpy(m: Module, layer: Axpy, x: X) -> str:
    return f"{x[0]}.flatten(1)[:, :, None, None] * {x[1]} + {x[2]}"


@writes(Concat)
def concat(m: Module, layer: Concat, x: X) -> str:
    return f"torch.cat([{', '.join(x)}], {layer.axis})"


@writes(Slice)
def cut(m: Module, layer: Slice, x: X) -> list[str] | str:
    parts = [shape[layer.axis] for shape in m.out]
    made = f"torch.split({x[0]}, {parts}, {layer.axis})"
    return made if len(parts) > 1 else x[0]


@writes(Crop)
def crop(m: Module, layer: Crop, x: X) -> str:
    parts = [":" if p.start is None else f"{p.start}:{p.stop}" for p in layer.inside]
    return f"{x[0]}[{', '.join(parts)}]"


@writes(Reshaped)
def reshaped(m: Module, layer: Reshaped, x: X) -> str:
    shape = m.out[0]
    return f"{x[0]}.reshape({', '.join(map(str, (-1, *shape[1:]) if all(shape) else shape))})"


@writes(Tile)
def tile(m: Module, layer: Tile, x: X) -> str:
    repeats = [1] * len(m.out[0])
    repeats[layer.layer_param.tile_param.axis] = layer.tiles
    return f"{x[0]}.repeat({', '.join(map(str, repeats))})"


@writes(Permute, Transpose)
def permute(m: Module, layer: Any, x: X) -> str:
    return f"{x[0]}.permute({', '.join(str(int(axis)) for axis in layer.order)})"


@writes(ShuffleChannel)
def shuffle(m: Module, layer: ShuffleChannel, x: X) -> str:
    return f"{m.part('shuffle_channels')}({x[0]}, {layer.layer_param.shuffle_channel_param.group})"


@writes(Softmax)
def softmax(m: Module, layer: Softmax, x: X) -> str:
    return f"F.softmax({x[0]}, {layer.layer_param.softmax_param.axis})"


@writes(ArgMax)
def argmax(m: Module, layer: ArgMax, x: X) -> str:
    if layer.axis is None or layer.values or layer.top_k != 1:
        raise layer.error("has no form in PyTorch here but with an axis, for the best alone")
    return f"{x[0]}.argmax({layer.axis}, keepdim=True).float()"


@writes(MVN)
def mvn(m: Module, layer: MVN, x: X) -> str:
    flags = f"{layer.across_channels}, {layer.normalize_variance}, {number(layer.eps)}"
    return f"{m.part('mean_variance')}({x[0]}, {flags})"


@writes(Reduction)
def reduction(m: Module, layer: Reduction, x: X) -> str:
    kinds = ReductionParameter
    inner = {kinds.ASUM: f"{x[0]}.abs()", kinds.SUMSQ: f"({x[0]} ** 2)"}.get(layer.operation, x[0])
    axis = layer.layer_param.reduction_param.axis
    flat = f"{inner}.flatten({axis}).sum(-1)" if axis else f"{inner}.sum()"
    return line(flat, layer.coeff, 0)
