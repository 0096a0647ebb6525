"""NegReLU of FlowNet 2: a ReLU that keeps what is below 0."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("NegReLU")
class NegReLU(Neuron):
    """y = min(0, x) + s·max(0, x);  ∂x = ∂y where x < 0, s·∂y where x ≥ 0, s = negative_slope."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.slope = self.dtype.type(self.layer_param.relu_param.negative_slope)

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        above = self.xp.maximum(x, 0) * self.slope
        self.xp.minimum(x, 0, out=top[0].data)
        top[0].data[...] += above

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            x = bottom[0].data
            slopes = (x < 0) + (x >= 0) * self.slope
            self.xp.multiply(top[0].diff, slopes, out=bottom[0].diff)
