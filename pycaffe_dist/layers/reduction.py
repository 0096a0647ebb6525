"""Reduction: sums and means over the last axes."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.neuron import sign
from pycaffe_dist.proto.caffe_pb2 import ReductionParameter as Op


@register("Reduction")
class Reduction(Layer):
    """All axes from ``axis`` on become one number, times ``coeff`` c.

    SUM: c Σ x   ASUM: c Σ |x|   SUMSQ: c Σ x²   MEAN: c/n Σ x
    ∂x = c ∂y    c ∂y sign(x)    2 c ∂y x         c/n ∂y
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        p, x = self.layer_param.reduction_param, bottom[0]
        axis = x.axis(p.axis)
        self.num, self.size = x.count_from(0, axis), x.count_from(axis)
        self.operation = p.operation
        mean = self.operation == Op.MEAN
        self.coeff = self.dtype.type(p.coeff / max(1, self.size) if mean else p.coeff)
        top[0].reshape(*x.shape[:axis])

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data.reshape(self.num, self.size), top[0].data.reshape(self.num)
        if self.operation == Op.ASUM:
            self.xp.sum(abs(x), axis=1, out=y)
        elif self.operation == Op.SUMSQ:
            y[...] = self.xp.einsum("ij,ij->i", x, x)
        else:
            self.xp.sum(x, axis=1, out=y)
        if self.coeff != 1:
            y *= self.coeff

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        x, gx = (a.reshape(self.num, self.size) for a in (bottom[0].data, bottom[0].diff))
        gy = top[0].diff.reshape(self.num, 1) * self.coeff
        if self.operation == Op.ASUM:
            sign(self.xp, x, out=gx)
            gx *= gy
        elif self.operation == Op.SUMSQ:
            gy *= 2
            self.xp.multiply(x, gy, out=gx)
        else:
            gx[...] = gy

    def flops(self, bottom: Views, top: Views) -> int:
        return (2 if self.operation == Op.SUMSQ else 1) * bottom[0].count
