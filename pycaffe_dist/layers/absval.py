"""AbsVal."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron, sign


@register("AbsVal")
class AbsVal(Neuron):
    """y = |x|;  ∂x = ∂y·sign(x), 0 at 0 and for NaN."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.check(
            top[0].blob is not bottom[0].blob,
            "cannot work in place: its gradient needs the signs of the bottom; name the top anew",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        self.xp.absolute(bottom[0].data, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx = bottom[0].diff
            sign(self.xp, bottom[0].data, out=gx)
            gx *= top[0].diff
