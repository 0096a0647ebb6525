"""Sigmoid and Swish."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


def sigmoid(xp: ArrayModule, x: Array, scale: Array, out: Array) -> None:
    """σ(scale·x) = ½ tanh(½·scale·x) + ½, which does not overflow."""
    half = out.dtype.type(0.5)
    xp.multiply(x, half * scale, out=out)
    xp.tanh(out, out=out)
    out *= half
    out += half


@register("Sigmoid")
class Sigmoid(Neuron):
    """y = σ(x) = 1 / (1 + e⁻ˣ);  ∂x = ∂y·y·(1 − y)."""

    def forward(self, bottom: Views, top: Views) -> None:
        sigmoid(self.xp, bottom[0].data, self.dtype.type(1), out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            y = top[0].data
            slopes = self.work("slopes", y.shape)
            self.xp.subtract(1, y, out=slopes)
            slopes *= y
            self.xp.multiply(top[0].diff, slopes, out=bottom[0].diff)


@register("Swish")
class Swish(Neuron):
    """y = x·σ(β·x);  ∂x = ∂y·(β·y + σ(β·x)·(1 − β·y))."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.beta = self.dtype.type(self.layer_param.swish_param.beta)

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        gate = self.work("gate", x.shape)
        sigmoid(self.xp, x, self.beta, out=gate)
        self.xp.multiply(x, gate, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            y = top[0].data
            gate, slopes = self.work("gate", y.shape), self.work("slopes", y.shape)
            self.xp.subtract(1, gate, out=slopes)
            slopes *= y
            slopes *= self.beta
            slopes += gate
            self.xp.multiply(top[0].diff, slopes, out=bottom[0].diff)
