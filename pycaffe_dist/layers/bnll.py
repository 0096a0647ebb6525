"""BNLL: binomial normal log likelihood, also called softplus."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron

THRESHOLD = 50  # beyond it the gradient is 1 in any case, and the exponential might overflow


@register("BNLL")
class BNLL(Neuron):
    """y = log(1 + eˣ);  ∂x = ∂y·eᵗ / (eᵗ + 1), t = min(x, 50)."""

    def forward(self, bottom: Views, top: Views) -> None:
        self.xp.logaddexp(bottom[0].data, 0, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            x, gx = bottom[0].data, bottom[0].diff
            power = self.work("power", x.shape)
            self.xp.minimum(x, THRESHOLD, out=power)
            self.xp.exp(power, out=power)
            self.xp.multiply(top[0].diff, power, out=gx)
            power += 1
            gx /= power
