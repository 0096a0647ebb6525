"""TanH."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("TanH")
class TanH(Neuron):
    """y = tanh(x);  ∂x = ∂y·(1 − y²)."""

    def forward(self, bottom: Views, top: Views) -> None:
        self.xp.tanh(bottom[0].data, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            y = top[0].data
            slopes = self.work("slopes", y.shape)
            self.xp.square(y, out=slopes)
            self.xp.subtract(1, slopes, out=slopes)
            self.xp.multiply(top[0].diff, slopes, out=bottom[0].diff)
