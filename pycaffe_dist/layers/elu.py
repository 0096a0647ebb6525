"""ELU: exponential linear units."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("ELU")
class ELU(Neuron):
    """y = max(0, x) + α·(e^min(0, x) − 1);  ∂x = ∂y where x > 0, ∂y·(α + y) elsewhere.

    In place the signs of y stand for those of x, which is right for α ≥ 0.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.alpha = self.dtype.type(self.layer_param.elu_param.alpha)

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        below = self.work("below", x.shape)
        self.xp.minimum(x, 0, out=below)
        self.xp.exp(below, out=below)
        below -= 1
        below *= self.alpha
        self.xp.maximum(x, 0, out=y)
        y += below

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            x = bottom[0].data
            below = self.work("below", x.shape)
            self.xp.add(top[0].data, self.alpha, out=below)
            self.xp.multiply(top[0].diff, self.slopes(x, below), out=bottom[0].diff)
