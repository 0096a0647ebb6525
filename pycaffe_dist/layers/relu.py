"""ReLU."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron


@register("ReLU")
class ReLU(Neuron):
    """y = max(0, x) + s·min(0, x);  ∂x = ∂y where x > 0, s·∂y where x ≤ 0.

    The sum has consequences beyond numbers: without a slope, y of −∞ is NaN.  ∂x is 0 at NaN.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.slope = self.dtype.type(self.layer_param.relu_param.negative_slope)

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        if self.slope == 0:
            self._cut(x, y)
            return
        below = self.work("below", x.shape)
        self.xp.minimum(x, 0, out=below)
        below *= self.slope
        self.xp.maximum(x, 0, out=y)
        y += below

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        x = bottom[0].data
        if self.slope == 0:
            slopes = self.work("where", x.shape, bool)
            self.xp.greater(x, 0, out=slopes)
        else:
            slopes = self.slopes(x, self.slope)
        self.xp.multiply(top[0].diff, slopes, out=bottom[0].diff)

    def _cut(self, x: Array, y: Array) -> None:
        """y = x·[x > 0], in which 0·(−∞) is NaN, as in Caffe's sum."""
        positive = self.work("where", x.shape, bool)
        self.xp.greater(x, 0, out=positive)
        with np.errstate(invalid="ignore"):
            self.xp.multiply(x, positive, out=y)
        y += 0  # so that −0 becomes 0
