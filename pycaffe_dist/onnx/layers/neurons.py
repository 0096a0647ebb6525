"""Layers that treat every value alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.layer import Layer
from pycaffe_dist.layers.absval import AbsVal
from pycaffe_dist.layers.bnll import BNLL
from pycaffe_dist.layers.clip import Clip
from pycaffe_dist.layers.dropout import Dropout
from pycaffe_dist.layers.elu import ELU
from pycaffe_dist.layers.exponential import Exp, Log
from pycaffe_dist.layers.flow.neg_relu import NegReLU
from pycaffe_dist.layers.losses.gradient_scaler import GradientScaler
from pycaffe_dist.layers.mobile import curves
from pycaffe_dist.layers.mobile.color_conv import TO_XYZ, ColorConv
from pycaffe_dist.layers.mobile.guided_dropout import GuidedDropout
from pycaffe_dist.layers.mobile.insanity import Insanity
from pycaffe_dist.layers.mobile.relu6 import MOST, ReLU6
from pycaffe_dist.layers.power import Power
from pycaffe_dist.layers.prelu import PReLU
from pycaffe_dist.layers.relu import ReLU
from pycaffe_dist.layers.sigmoid import Sigmoid, Swish
from pycaffe_dist.layers.split import Split
from pycaffe_dist.layers.tanh import TanH
from pycaffe_dist.layers.threshold import Threshold
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]
ONE_OPERATOR = {
    Sigmoid: "Sigmoid",
    TanH: "Tanh",
    AbsVal: "Abs",
    BNLL: "Softplus",
    curves.Softplus: "Softplus",
    curves.Softsign: "Softsign",
    curves.Cosine: "Cos",
}


@exports(*ONE_OPERATOR)
def one_operator(g: Graph, layer: Layer, x: Values) -> str:
    return g.op(next(kind for cls, kind in ONE_OPERATOR.items() if isinstance(layer, cls)), x[0])


@exports(ReLU)
def relu(g: Graph, layer: ReLU, x: Values) -> str:
    if layer.slope == 0:
        return g.op("Relu", x[0])
    return g.op("LeakyRelu", x[0], alpha=float(layer.slope))


@exports(ReLU6)
def relu6(g: Graph, layer: ReLU6, x: Values) -> str:
    return g.clip(relu(g, layer, x), high=MOST)


@exports(NegReLU)
def neg_relu(g: Graph, layer: NegReLU, x: Values) -> str:
    return g.op("Min", x[0], g.constant(0.0))


@exports(PReLU)
def prelu(g: Graph, layer: PReLU, x: Values) -> str:
    slopes = layer.blobs[0].data
    axes = max(0, len(x[0].shape) - 2)
    return g.op("PRelu", x[0], g.constant(slopes.reshape(-1, *[1] * axes)))


@exports(Swish)
def swish(g: Graph, layer: Swish, x: Values) -> str:
    return g.op("Mul", x[0], g.op("Sigmoid", g.scaled(x[0], layer.beta)))


@exports(ELU)
def elu(g: Graph, layer: ELU, x: Values) -> str:
    return g.op("Elu", x[0], alpha=float(layer.alpha))


@exports(Clip)
def clip(g: Graph, layer: Clip, x: Values) -> str:
    return g.clip(x[0], float(layer.min), float(layer.max))


@exports(Power)
def power(g: Graph, layer: Power, x: Values) -> str:
    if layer.diff_scale == 0:
        level = 1.0 if layer.power == 0 else np.power(layer.shift, layer.power)
        return g.shifted(g.op("Mul", x[0], g.constant(0.0)), level)
    y = g.shifted(g.scaled(x[0], layer.scale), layer.shift)
    if layer.power == 1:
        return y
    if layer.power == 0.5:
        return g.op("Sqrt", y)
    return g.op("Mul", y, y) if layer.power == 2 else g.op("Pow", y, g.constant(layer.power))


@exports(Exp)
def exponential(g: Graph, layer: Exp, x: Values) -> str:
    return g.scaled(g.op("Exp", g.scaled(x[0], layer.inner_scale)), layer.outer_scale)


@exports(Log)
def logarithm(g: Graph, layer: Log, x: Values) -> str:
    inside = g.shifted(g.scaled(x[0], layer.input_scale), layer.input_shift)
    return g.scaled(g.op("Log", inside), layer.base_scale)


@exports(Threshold)
def threshold(g: Graph, layer: Threshold, x: Values) -> str:
    return g.to_float(g.op("Greater", x[0], g.constant(layer.threshold)))


@exports(GradientScaler)
def gradient_scaler(g: Graph, layer: GradientScaler, x: Values) -> str:
    return x[0]


@exports(Dropout)
def dropout(g: Graph, layer: Dropout, x: Values) -> str:
    if layer.draws:
        raise layer.error("draws at random in TEST too, which an ONNX file cannot")
    return g.scaled(x[0], layer.share)


@exports(GuidedDropout)
def guided_dropout(g: Graph, layer: GuidedDropout, x: Values) -> str:
    if layer.kind != "deterministic":
        return x[0]
    channels = x[0].shape[1]
    threshold = layer.layer_param.guided_dropout_param.guidance_threshold
    guidance = g.reshape(x[1], [0, channels, *[1] * (len(x[0].shape) - 2)])
    kept = g.to_float(g.op("Greater", guidance, g.constant(threshold)))
    total = g.clip(g.reduce("ReduceSum", kept, [1]), low=1)  # with none there is nothing to divide
    return g.op("Mul", x[0], g.scaled(g.op("Div", kept, total), channels))


@exports(Split)
def split(g: Graph, layer: Split, x: Values) -> list[str]:
    return [x[0]] * len(layer.layer_param.top)


@exports(Insanity)
def insanity(g: Graph, layer: Insanity, x: Values) -> str:
    return g.op("LeakyRelu", x[0], alpha=1 / layer.mean)


# -- the curves of forks -------------------------------------------------------------------------


@exports(curves.HardSigmoid)
def hard_sigmoid(g: Graph, layer: curves.HardSigmoid, x: Values) -> str:
    return g.op("HardSigmoid", x[0], alpha=float(layer.alpha), beta=float(layer.beta))


@exports(curves.HardSwish)
def hard_swish(g: Graph, layer: curves.HardSwish, x: Values) -> str:
    return g.op("Mul", x[0], g.op("HardSigmoid", x[0], alpha=1 / 6, beta=0.5))


@exports(curves.Mish)
def mish(g: Graph, layer: curves.Mish, x: Values) -> str:
    return g.op("Mul", x[0], g.op("Tanh", g.op("Softplus", x[0])))


@exports(curves.SeLU)
def selu(g: Graph, layer: curves.SeLU, x: Values) -> str:
    return g.op("Selu", x[0], alpha=float(layer.alpha), gamma=float(layer.scale))


@exports(curves.ScaledTanH)
def scaled_tanh(g: Graph, layer: curves.ScaledTanH, x: Values) -> str:
    return g.scaled(g.op("Tanh", g.scaled(x[0], layer.beta)), layer.alpha)


@exports(ColorConv)
def color_conv(g: Graph, layer: ColorConv, x: Values) -> str:
    """sRGB made linear, mixed to X, Y, Z, their roots mixed to L, a, b: both mixtures are Conv."""
    one = (1,) * (len(x[0].shape) - 2)
    layer.check(bool(one), f"of images only has a form in ONNX, found {x[0].shape}")
    given = g.scaled(x[0], 1 / 255)
    curved = g.scaled(g.op("Relu", g.shifted(given, 0.055)), 1 / 1.055)
    curved = g.op("Pow", curved, g.constant(2.4))
    bright = g.op("Greater", given, g.constant(0.04045))
    linear = g.op("Where", bright, curved, g.scaled(given, 1 / 12.92))
    xyz = g.op("Conv", linear, g.constant(np.reshape(TO_XYZ, (3, 3, *one))))
    root = g.op("Pow", g.op("Relu", xyz), g.constant(1 / 3))
    line = g.shifted(g.scaled(xyz, 7.787), 16 / 116)
    curve = g.op("Where", g.op("Greater", xyz, g.constant(0.008856)), root, line)
    mixture = np.reshape([[0, 116, 0], [500, -500, 0], [0, 200, -200]], (3, 3, *one))
    return g.op("Conv", curve, g.constant(mixture), g.constant([-16, 0, 0]))
