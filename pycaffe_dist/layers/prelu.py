"""PReLU: ReLU with learned slopes."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import Neuron
from pycaffe_dist.layers.work import planes
from pycaffe_dist.proto.caffe_pb2 import FillerParameter


@register("PReLU")
class PReLU(Neuron):
    """y = max(0, x) + a·min(0, x)

    x, y: (N, C, …)  a: (C,), or () with ``channel_shared``
    ∂a = Σ ∂y·x·[x ≤ 0], NaN where an x is ∞ or NaN   ∂x = ∂y where x > 0, a·∂y where x ≤ 0
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.prelu_param
        self._check_axes(bottom[0])
        shape = () if p.channel_shared else bottom[0].shape[1:2]
        quarter = FillerParameter(value=0.25)
        self.add_blob(shape, p.filler if p.HasField("filler") else quarter)

    def reshape(self, bottom: Views, top: Views) -> None:
        self._check_axes(bottom[0])
        slopes = self.params[0].shape
        self.check(
            slopes in ((), bottom[0].shape[1:2]),
            f"has a slope for each of {self.params[0].count} channels, "
            f"the bottom is {bottom[0].shape}",
        )
        super().reshape(bottom, top)

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = planes(bottom[0].data), planes(top[0].data)
        if top[0].blob is bottom[0].blob:
            self.work("input", x.shape)[...] = x
        below = self.work("below", x.shape)
        self.xp.minimum(x, 0, out=below)
        below *= self._slopes()
        self.xp.maximum(x, 0, out=y)
        y += below

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, x = planes(top[0].diff), planes(bottom[0].data)
        if top[0].blob is bottom[0].blob:
            x = self.work("input", x.shape)
        self.propagate(x, gy, planes(bottom[0].diff) if propagate_down[0] else None)

    def propagate(self, x: Array, gy: Array, gx: Array | None) -> None:
        """Add to ∂a if it is learned, and write ∂x if there is room for it."""
        if self.param_propagate_down[0]:
            below, where = self.work("below", x.shape), self.work("where", x.shape, bool)
            self.xp.less_equal(x, 0, out=where)
            with np.errstate(invalid="ignore"):  # 0·∞
                self.xp.multiply(x, where, out=below)
            into = "c" if self.params[0].shape else ""
            self.params[0].diff[...] += self.xp.einsum(f"nci,nci->{into}", gy, below)
        if gx is not None:
            self.xp.multiply(gy, self.slopes(x, self._slopes()), out=gx)

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * top[0].count

    def _check_axes(self, x: View) -> None:
        self.check(len(x.shape) >= 2, f"needs 2 axes or more, the bottom is {x.shape}")

    def _slopes(self) -> Array:
        slopes = self.params[0].data
        return slopes[:, None] if slopes.ndim else slopes
