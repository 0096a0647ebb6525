"""ReLU6."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.relu import ReLU

MOST = 6


@register("ReLU6")
class ReLU6(ReLU):
    """y = min(max(0, x) + s·min(0, x), 6);  ∂x = 0 where x ≥ 6, else as that of ReLU."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.slope = self.dtype.type(self.layer_param.relu6_param.negative_slope)

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        y = top[0].data
        self.xp.minimum(y, MOST, out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            super().backward(top, propagate_down, bottom)
            x, gx = bottom[0].data, bottom[0].diff
            below = self.work("where", x.shape, bool)
            self.xp.less(x, MOST, out=below)
            gx *= below
