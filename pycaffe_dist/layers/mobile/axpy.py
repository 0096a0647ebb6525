"""Axpy."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.work import planes


@register("Axpy")
class Axpy(Layer):
    """y = a·x + b, a number for each channel of each item;  ∂a = Σ x·∂y   ∂x = a·∂y   ∂b = ∂y.

    a: (N, C), or with ones behind  x, b, y: (N, C, …)
    """

    bottoms = 3

    def reshape(self, bottom: Views, top: Views) -> None:
        a, x, b = (view.shape for view in bottom)
        self.check(
            len(x) > 1 and a[:2] == x[:2] and bottom[0].count == x[0] * x[1],
            f"bottom 0 must have a value for each channel, {x[:2]}, found {a}",
        )
        self.check(x == b, f"bottoms 1 and 2 must have one shape, found {x} and {b}")
        top[0].reshape(*x)

    def forward(self, bottom: Views, top: Views) -> None:
        x, b, y = (planes(view.data) for view in (*bottom[1:], *top))
        y[...] = x * bottom[0].data.reshape(*x.shape[:2], 1) + b

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, x = planes(top[0].diff), planes(bottom[1].data)
        if propagate_down[0]:
            ga = bottom[0].diff.reshape(x.shape[:2])
            ga[...] = self.xp.einsum("nci,nci->nc", gy, x)
        if propagate_down[1]:
            a = bottom[0].data.reshape(*x.shape[:2], 1)
            self.xp.multiply(gy, a, out=planes(bottom[1].diff))
        if propagate_down[2]:
            bottom[2].diff[...] = top[0].diff

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * top[0].count
