"""What converters from TensorFlow write: Squeeze, Stack, Gather, Shape, MatMul and the like."""

from __future__ import annotations

from math import prod

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.flatten import Reshaped


@register("Squeeze")
class Squeeze(Reshaped):
    """The same values without the axes ``axis``, which must be of size 1; without all such axes if
    none is given.
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0]
        axes = {x.axis(axis) for axis in self.layer_param.squeeze_param.axis}
        for axis in axes:
            self.check(x.shape[axis] == 1, f"axis {axis} of the bottom {x.shape} is not of size 1")
        axes = axes or {axis for axis, size in enumerate(x.shape) if size == 1}
        shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
        self.share(shape, bottom, top)


@register("ExpandDimsND")
class ExpandDimsND(Reshaped):
    """The same values with an axis of size 1 at each place ``axis`` of the top."""

    def reshape(self, bottom: Views, top: Views) -> None:
        given, shape = [*self.layer_param.expand_dims_nd_param.axis], [*bottom[0].shape]
        count = len(shape) + len(given)
        self.check(
            all(-count <= axis < count for axis in given),
            f"axis {given} is out of range for a top of {count} axes",
        )
        for axis in sorted(axis % count for axis in given):
            shape.insert(axis, 1)
        self.share(shape, bottom, top)


class Stacked(Layer):
    """Blobs of one shape, and one that holds them along an axis of its own."""

    axis: int

    def place(self, axis: int, axes: int) -> int:
        """The axis of the whole blob, which has ``axes`` of them."""
        self.check(-axes <= axis < axes, f"axis {axis} is out of range for {axes} axes")
        return axis % axes

    def part(self, whole: Array, i: int) -> Array:
        return whole[(slice(None),) * self.axis + (i, ...)]

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("Stack")
class Stack(Stacked):
    """y[..., i, ...] = xᵢ, with i on a new axis ``axis``;  ∂xᵢ = ∂y[..., i, ...]."""

    bottoms = (1, None)

    def reshape(self, bottom: Views, top: Views) -> None:
        shapes = [x.shape for x in bottom]
        self.check(len({*shapes}) == 1, f"bottoms must have one shape, found {shapes}")
        self.axis = self.place(self.layer_param.stack_param.axis, len(shapes[0]) + 1)
        top[0].reshape(*shapes[0][: self.axis], len(bottom), *shapes[0][self.axis :])

    def forward(self, bottom: Views, top: Views) -> None:
        for i, x in enumerate(bottom):
            self.part(top[0].data, i)[...] = x.data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for i, x in enumerate(bottom):
            if propagate_down[i]:
                x.diff[...] = self.part(top[0].diff, i)


@register("Unstack")
class Unstack(Stacked):
    """yᵢ = x[..., i, ...] for each i of axis ``axis``, which disappears;  ∂x puts ∂yᵢ together."""

    tops = (1, None)

    def reshape(self, bottom: Views, top: Views) -> None:
        p, shape = self.layer_param.unstack_param, bottom[0].shape
        self.axis = self.place(p.axis, len(shape))
        self.check(
            len(top) == shape[self.axis] and p.num in (0, len(top)),
            f"axis {self.axis} of the bottom {shape} needs as many tops (and num, if given): found "
            f"{len(top)} and num {p.num}",
        )
        for y in top:
            y.reshape(*shape[: self.axis], *shape[self.axis + 1 :])

    def forward(self, bottom: Views, top: Views) -> None:
        for i, y in enumerate(top):
            y.data[...] = self.part(bottom[0].data, i)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            for i, y in enumerate(top):
                self.part(bottom[0].diff, i)[...] = y.diff


@register("Gather")
class Gather(Layer):
    """y = x[..., indices, ...] along ``axis``;  ∂x is the sum of ∂y over the places it went to.

    ``shape`` of the indices takes the place of the axis; a single 0 means one index and no axis.
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        p, x = self.layer_param.gather_param, bottom[0]
        self.axis = x.axis(p.axis)
        size = x.shape[self.axis]
        shape = [] if [*p.shape] == [0] else [*p.shape]
        self.check(
            len(p.indices) == prod(shape),
            f"{len(p.indices)} indices do not fit the shape {shape}",
        )
        self.check(
            all(i < size for i in p.indices),
            f"indices {[*p.indices]} reach beyond axis {self.axis} of the bottom {x.shape}",
        )
        self.indices = self.xp.asarray([*p.indices], dtype="int64")
        top[0].reshape(*x.shape[: self.axis], *shape, *x.shape[self.axis + 1 :])

    def forward(self, bottom: Views, top: Views) -> None:
        taken = self.xp.take(bottom[0].data, self.indices, axis=self.axis)
        top[0].data[...] = taken.reshape(top[0].shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx = bottom[0].diff
            gx[...] = 0
            shape = (*gx.shape[: self.axis], len(self.indices), *gx.shape[self.axis + 1 :])
            gy = self.xp.moveaxis(top[0].diff.reshape(shape), self.axis, 0)
            self.xp.add.at(self.xp.moveaxis(gx, self.axis, 0), self.indices, gy)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("Shape")
class Shape(Layer):
    """The bottom's sizes as numbers, (axes,); no gradient comes from them."""

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape(len(bottom[0].shape))

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = self.xp.asarray(bottom[0].shape, dtype=self.dtype)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            bottom[0].diff[...] = 0

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("MatMul")
class MatMul(Layer):
    """y = a b, for each pair of matrices in the last two axes, of which ``transpose_a`` and
    ``transpose_b`` take the transposes;  ∂a = ∂y bᵀ   ∂b = aᵀ ∂y.  b may be one matrix for all.
    """

    bottoms = 2

    def reshape(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.matmul_param
        self.flipped = p.transpose_a, p.transpose_b
        a, b = (self._turned(x.shape, f) for x, f in zip(bottom, self.flipped, strict=True))
        shared = len(a) > len(b) == 2 and not any(self.flipped)
        self.check(
            (shared or (len(a) == len(b) > 1 and a[:-2] == b[:-2])) and a[-1] == b[-2],
            f"the bottoms {bottom[0].shape} and {bottom[1].shape}"
            f"{', transposed as asked for,' if any(self.flipped) else ''} cannot be multiplied",
        )
        top[0].reshape(*a[:-1], b[-1])

    def forward(self, bottom: Views, top: Views) -> None:
        self.xp.matmul(self._matrix(bottom, 0), self._matrix(bottom, 1), out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, (a, b) = top[0].diff, (self._matrix(bottom, i) for i in (0, 1))
        if propagate_down[0]:
            self._write(bottom[0], self.flipped[0], gy @ b.swapaxes(-1, -2))
        if propagate_down[1]:
            if a.ndim > b.ndim:
                a, gy = (x.reshape(-1, x.shape[-1]) for x in (a, gy))
            self._write(bottom[1], self.flipped[1], a.swapaxes(-1, -2) @ gy)

    def flops(self, bottom: Views, top: Views) -> int:
        return int(2 * top[0].count * self._turned(bottom[0].shape, self.flipped[0])[-1])

    @staticmethod
    def _turned(shape: tuple[int, ...], flipped: bool) -> tuple[int, ...]:
        return (*shape[:-2], *shape[:-3:-1]) if flipped else shape

    def _matrix(self, bottom: Views, i: int) -> Array:
        x = bottom[i].data
        return x.swapaxes(-1, -2) if self.flipped[i] else x

    def _write(self, x: View, flipped: bool, gradient: Array) -> None:
        x.diff[...] = gradient.swapaxes(-1, -2) if flipped else gradient
