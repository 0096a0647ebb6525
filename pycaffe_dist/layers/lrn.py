"""LRN: local response normalisation."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.windows import batches, scratch
from pycaffe_dist.proto.caffe_pb2 import LRNParameter


@register("LRN")
class LRN(Layer):
    """y = x·s^−β, s = k + α/n Σx² over the n values around x, zeros beyond the edges.

    ACROSS_CHANNELS: n = local_size neighbouring channels.
    WITHIN_CHANNEL: n = local_size² pixels of the channel, and k is always 1.
    ∂x = ∂y·s^−β − 2αβ/n · x · Σ ∂y·y/s
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.lrn_param
        self.across = p.norm_region == LRNParameter.ACROSS_CHANNELS
        self.size = p.local_size
        self.check(self.size % 2 == 1, f"local_size must be odd, found {self.size}")
        self.beta = p.beta
        self.k = p.k if self.across else 1.0
        self.alpha_over_n = p.alpha / (self.size if self.across else self.size**2)
        self.scale: Array = self.xp.empty(0)

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        if self.scale.shape != x.shape:
            self.scale = self.xp.empty(x.shape, self.dtype)
        for i in batches(x):
            self._forward(x[i], y[i], self.scale[i])

    def _forward(self, x: Array, y: Array, scale: Array) -> None:
        squares = scratch(self.xp, "squares", x.shape, self.dtype)
        self.xp.multiply(x, x, out=squares)
        self._sum_around(squares, scale)
        scale *= self.dtype.type(self.alpha_over_n)
        scale += self.dtype.type(self.k)
        self.xp.multiply(x, self._factor(scale), out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not (propagate_down[0] or self.across):
            return
        x, gx = bottom[0].data, bottom[0].diff
        y, gy = top[0].data, top[0].diff
        in_place = top[0].blob is bottom[0].blob
        for i in batches(x):
            self._backward(None if in_place else x[i], y[i], gy[i], self.scale[i], gx[i])

    def _backward(self, x: Array | None, y: Array, gy: Array, scale: Array, gx: Array) -> None:
        ratio = scratch(self.xp, "squares", y.shape, self.dtype)
        total = scratch(self.xp, "sums", y.shape, self.dtype)
        factor = self._factor(scale)
        self.xp.multiply(gy, y, out=ratio)
        ratio /= scale
        self._sum_around(ratio, total)
        total *= y / factor if x is None else x
        total *= self.dtype.type(2 * self.alpha_over_n * self.beta)
        self.xp.multiply(gy, factor, out=gx)
        gx -= total

    def flops(self, bottom: Views, top: Views) -> int:
        return int(top[0].count * (2 * self.size if self.across else 2 * self.size**2))

    def _sum_around(self, values: Array, sums: Array) -> None:
        if self.across:
            self._sum_along(1, values, sums)
        else:
            rows = scratch(self.xp, "rows", values.shape, self.dtype)
            self._sum_along(2, values, rows)
            self._sum_along(3, rows, sums)

    def _sum_along(self, axis: int, values: Array, sums: Array) -> None:
        sums[...] = values
        before = (slice(None),) * axis
        for d in range(1, self.size // 2 + 1):
            low, high = (*before, slice(None, -d)), (*before, slice(d, None))
            sums[low] += values[high]
            sums[high] += values[low]

    def _factor(self, scale: Array) -> Array:
        """s^−β"""
        factor = scratch(self.xp, "factor", scale.shape, self.dtype)
        if self.beta != 0.75:
            return self.xp.power(scale, self.dtype.type(-self.beta), out=factor)
        # The usual one, by square roots: several times as fast as a power.
        root = scratch(self.xp, "root", scale.shape, self.dtype)
        self.xp.sqrt(scale, out=root)
        self.xp.sqrt(root, out=factor)
        factor *= root
        return self.xp.divide(self.dtype.type(1), factor, out=factor)
