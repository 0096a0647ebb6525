"""ReduceMean and the like: one number from all values along some axes, as in TensorFlow."""

from __future__ import annotations

from math import prod

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


class Reduce(Layer):
    """The axes ``axis`` (all, if none is given) become 1 with ``keepdims``, or else disappear."""

    param: str  # the field with axis and keepdims

    def result(self, x: Array) -> Array:
        """Y: (K,) of x: (R, K), which holds the reduced values along its first axis."""
        raise NotImplementedError

    def slope(self, x: Array, y: Array) -> Array:
        """∂y/∂x, (R, K) or what is broadcast to it."""
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        p, x = getattr(self.layer_param, self.param), bottom[0]
        given = sorted(x.axis(axis) for axis in p.axis)
        self.check(len(given) == len({*given}), f"axis names one axis twice: {[*p.axis]}")
        self.axes = given or [*range(len(x.shape))]
        self.kept = [axis for axis in range(len(x.shape)) if axis not in self.axes]
        one = [1 if axis in self.axes else size for axis, size in enumerate(x.shape)]
        top[0].reshape(*(one if p.keepdims else [x.shape[axis] for axis in self.kept]))

    def forward(self, bottom: Views, top: Views) -> None:
        x = self._folded(bottom[0].data)
        top[0].data[...] = self.result(x).reshape(top[0].shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            x, gx = self._folded(bottom[0].data), bottom[0].diff
            y, gy = top[0].data.reshape(-1), top[0].diff.reshape(-1)
            folded = self.xp.empty_like(x)
            self.xp.multiply(gy, self.slope(x, y), out=folded)
            moved = gx.transpose(*self.axes, *self.kept)
            moved[...] = folded.reshape(moved.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return bottom[0].count

    def _folded(self, x: Array) -> Array:
        reduced = prod(x.shape[axis] for axis in self.axes)
        return x.transpose(*self.axes, *self.kept).reshape(reduced, -1)


@register("ReduceSum")
class ReduceSum(Reduce):
    """y = Σ x;  ∂x = ∂y."""

    param = "reduce_sum_param"

    def result(self, x: Array) -> Array:
        return x.sum(axis=0)

    def slope(self, x: Array, y: Array) -> Array:
        return self.dtype.type(1)


@register("ReduceMean")
class ReduceMean(Reduce):
    """y = mean of x, of R values;  ∂x = ∂y/R."""

    param = "reduce_mean_param"

    def result(self, x: Array) -> Array:
        return x.sum(axis=0) / self.dtype.type(max(1, len(x)))

    def slope(self, x: Array, y: Array) -> Array:
        return self.dtype.type(1 / max(1, len(x)))


@register("ReduceMax")
class ReduceMax(Reduce):
    """y = max x;  ∂x = ∂y in equal shares where x is the largest."""

    param = "reduce_max_param"

    def result(self, x: Array) -> Array:
        return x.max(axis=0)

    def slope(self, x: Array, y: Array) -> Array:
        equal = (x == y).astype(self.dtype)
        return equal / equal.sum(axis=0)


@register("ReduceMin")
class ReduceMin(ReduceMax):
    """y = min x;  ∂x = ∂y in equal shares where x is the smallest."""

    param = "reduce_min_param"

    def result(self, x: Array) -> Array:
        return x.min(axis=0)


@register("ReduceProd")
class ReduceProd(Reduce):
    """y = Π x;  ∂x = ∂y · the product of all others."""

    param = "reduce_prod_param"

    def result(self, x: Array) -> Array:
        return x.prod(axis=0)

    def slope(self, x: Array, y: Array) -> Array:
        zero, none = x == 0, self.dtype.type(0)
        factors = self.xp.where(zero, self.dtype.type(1), x)
        zeros, others = zero.sum(axis=0), factors.prod(axis=0) / factors
        return self.xp.where(zeros == zero, others, none)
