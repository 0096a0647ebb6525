"""MVN: mean and variance normalisation."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.work import Working


@register("MVN")
class MVN(Working):
    """y = (x − μ) / (σ + eps) for each channel of an item, ``across_channels`` for each item.

    x, y: (N, C, H, W)  μ, σ: (N, C), or (N,)
    ∂x = (∂y − mean(∂y) − y·mean(∂y·y)) / (σ + eps), whether it is asked for or not.
    Without ``normalize_variance`` y = x − μ, ∂x = ∂y − mean(∂y).
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.mvn_param
        self.normalize_variance = p.normalize_variance
        self.across_channels = p.across_channels
        self.eps = p.eps

    def reshape(self, bottom: Views, top: Views) -> None:
        n, c, h, w = bottom[0].legacy_shape()
        top[0].reshape(n, c, h, w)
        self.rows = (n, c * h * w) if self.across_channels else (n * c, h * w)

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data.reshape(self.rows), top[0].data.reshape(self.rows)
        self.xp.subtract(x, self._mean("ri->r", x), out=y)
        if self.normalize_variance:
            deviation = self._deviation()
            self.xp.sqrt(self._mean("ri,ri->r", y, y), out=deviation)
            deviation += self.eps
            y /= deviation

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        y, gy = top[0].data.reshape(self.rows), top[0].diff.reshape(self.rows)
        gx = bottom[0].diff.reshape(self.rows)
        mean = self._mean("ri->r", gy)
        if not self.normalize_variance:
            self.xp.subtract(gy, mean, out=gx)
            return
        in_place = top[0].blob is bottom[0].blob
        part = self.work("part", self.rows) if in_place else gx
        self.xp.multiply(y, self._mean("ri,ri->r", gy, y), out=part)
        part += mean
        self.xp.subtract(gy, part, out=gx)
        gx /= self._deviation()

    def flops(self, bottom: Views, top: Views) -> int:
        return (5 if self.normalize_variance else 2) * top[0].count

    def _mean(self, how: str, *rows: Array) -> Array:
        return self.xp.einsum(how, *rows)[:, None] / self.rows[1]

    def _deviation(self) -> Array:
        """σ + eps of the last forward."""
        return self.work("deviation", (self.rows[0], 1))
