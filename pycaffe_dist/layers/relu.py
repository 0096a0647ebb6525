"""ReLU."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("ReLU")
class ReLU(Neuron):
    """y = max(0, x) + s·min(0, x);  ∂x = ∂y where x > 0, s·∂y elsewhere."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.slope = self.dtype.type(self.layer_param.relu_param.negative_slope)

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        if self.slope == 0:
            self.xp.maximum(x, 0, out=y)
        else:
            y[...] = self.xp.where(x > 0, x, self.slope * x)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            positive = bottom[0].data > 0
            if self.slope:
                positive = self.xp.where(positive, self.dtype.type(1), self.slope)
            self.xp.multiply(top[0].diff, positive, out=bottom[0].diff)
