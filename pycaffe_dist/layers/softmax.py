"""Softmax."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


def softmax(xp: ArrayModule, x: Array, out: Array) -> None:
    """out = exp x / Σ exp x over axis 1; ``out`` may be ``x``."""
    xp.subtract(x, x.max(axis=1, keepdims=True), out=out)  # so that exp does not overflow
    xp.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


@register("Softmax")
class Softmax(Neuron):
    """y = exp x / Σ exp x along ``axis``;  ∂x = (∂y − Σ ∂y·y)·y, whether asked for or not."""

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        x = bottom[0]
        axis = x.axis(self.layer_param.softmax_param.axis)
        self.folded = x.count_from(0, axis), x.shape[axis], x.count_from(axis + 1)

    def forward(self, bottom: Views, top: Views) -> None:
        softmax(self.xp, bottom[0].data.reshape(self.folded), top[0].data.reshape(self.folded))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        y, gy = top[0].data.reshape(self.folded), top[0].diff.reshape(self.folded)
        gx = bottom[0].diff.reshape(self.folded)
        along = self.xp.einsum("oci,oci->oi", gy, y)
        self.xp.subtract(gy, along[:, None], out=gx)
        gx *= y

    def flops(self, bottom: Views, top: Views) -> int:
        return 4 * top[0].count
