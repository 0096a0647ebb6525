"""Power."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("Power")
class Power(Neuron):
    """y = (shift + scale·x)^power;  ∂x = ∂y·power·scale·y / (shift + scale·x).

    So the gradient is NaN where the base is 0, but for the powers 1 and 2, which need no quotient.
    With a power or a scale of 0, y is constant and ∂x = 0.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.power_param
        self.power, self.scale, self.shift = map(self.dtype.type, (p.power, p.scale, p.shift))
        self.diff_scale = self.power * self.scale

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        with np.errstate(all="ignore"):  # of a negative base a broken power is NaN
            if self.diff_scale == 0:
                y[...] = 1 if self.power == 0 else np.power(self.shift, self.power)
                return
            self.xp.multiply(x, self.scale, out=y)
            y += self.shift
            if self.power == 2:
                self.xp.square(y, out=y)
            elif self.power == 0.5:
                self._take_root(y)
            elif self.power != 1:
                self.xp.power(y, self.power, out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        x, y, gx = bottom[0].data, top[0].data, bottom[0].diff
        with np.errstate(all="ignore"):
            if self.diff_scale == 0:
                gx[...] = 0
                return
            if self.power == 1:
                gx[...] = self.diff_scale
            elif self.power == 2:
                self.xp.multiply(x, self.diff_scale * self.scale, out=gx)
                gx += self.diff_scale * self.shift
            else:
                self.xp.multiply(x, self.scale, out=gx)
                gx += self.shift
                self.xp.divide(y, gx, out=gx)
                gx *= self.diff_scale
            # In place this is the square of what was just written: Caffe's answer, if wrong.
            self.xp.multiply(top[0].diff, gx, out=gx)

    def _take_root(self, y: Array) -> None:
        """y ← y^½ by C's rules, by which that of −∞ is ∞, and a square root is not."""
        infinite = y == -np.inf
        self.xp.sqrt(y, out=y)
        y[infinite] = np.inf
