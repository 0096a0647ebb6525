"""Clip."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("Clip")
class Clip(Neuron):
    """y = max(min, min(x, max));  ∂x = ∂y where min ≤ x ≤ max, 0 elsewhere.

    Of NaN this is the minimum.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.clip_param
        for field in ("min", "max"):
            self.check(p.HasField(field), f"clip_param needs a {field}, found none")
        self.min, self.max = self.dtype.type(p.min), self.dtype.type(p.max)

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        self.xp.minimum(bottom[0].data, self.max, out=y)
        self.xp.fmax(y, self.min, out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            x, gx = bottom[0].data, bottom[0].diff
            where = self.work("where", x.shape, bool)
            self.xp.greater_equal(x, self.min, out=where)
            self.xp.multiply(top[0].diff, where, out=gx)
            self.xp.less_equal(x, self.max, out=where)
            gx *= where
