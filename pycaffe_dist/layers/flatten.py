"""Flatten and Reshape: the same memory in another shape."""

from __future__ import annotations

from math import prod

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


class Reshaped(Layer):
    """The top shares data and diff with the bottom: nothing is computed in either direction."""

    def share(self, shape: list[int], bottom: Views, top: Views) -> None:
        self.check(top[0].blob is not bottom[0].blob, "cannot work in place")
        self.check(
            prod(shape) == bottom[0].count,
            f"the new shape {tuple(shape)} has {prod(shape)} values, "
            f"the bottom {bottom[0].shape} has {bottom[0].count}",
        )
        top[0].reshape(*shape)
        top[0].share_data(bottom[0])
        top[0].share_diff(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        pass

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        pass

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("Flatten")
class Flatten(Reshaped):
    """The axes from ``axis`` to ``end_axis``, both included, become one."""

    def reshape(self, bottom: Views, top: Views) -> None:
        p, x = self.layer_param.flatten_param, bottom[0]
        begin, end = x.axis(p.axis), x.axis(p.end_axis) + 1
        self.check(begin <= end, f"end_axis {p.end_axis} is before axis {p.axis}")
        self.share([*x.shape[:begin], x.count_from(begin, end), *x.shape[end:]], bottom, top)


@register("Reshape")
class Reshape(Reshaped):
    """``shape`` takes the place of the ``num_axes`` axes (−1: all) from ``axis`` on.

    A 0 in it copies the bottom's axis at that place, a −1 is what is left of the count.
    A negative ``axis`` counts from behind the last: −1 puts ``shape`` at the end.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.reshape_param
        self.dims = [*p.shape.dim]
        found = f"found {self.dims}"
        self.check(self.dims.count(-1) <= 1, f"shape may have one -1, {found}")
        self.check(all(d >= -1 for d in self.dims), f"shape may have no dim below -1, {found}")
        self.check(p.num_axes >= -1, f"num_axes must be -1 (all) or more, found {p.num_axes}")

    def reshape(self, bottom: Views, top: Views) -> None:
        p, old = self.layer_param.reshape_param, bottom[0].shape
        begin = p.axis if p.axis >= 0 else len(old) + p.axis + 1
        end = len(old) if p.num_axes == -1 else begin + p.num_axes
        self.check(0 <= begin <= len(old), f"axis {p.axis} is out of range for the shape {old}")
        self.check(end <= len(old), f"{p.num_axes} axes from {p.axis} on: {old} has not so many")
        self.check(
            all(begin + i < len(old) for i, d in enumerate(self.dims) if d == 0),
            f"shape {self.dims} at axis {begin} has a 0 where {old} has no axis to copy",
        )
        new = [old[begin + i] if d == 0 else d for i, d in enumerate(self.dims)]
        shape = [*old[:begin], *new, *old[end:]]
        if -1 in self.dims:
            known = -prod(shape)
            self.check(
                known > 0 and bottom[0].count % known == 0,
                f"nothing fits the -1 in {shape}: the bottom {old} has {bottom[0].count} values",
            )
            shape[begin + self.dims.index(-1)] = bottom[0].count // known
        self.share(shape, bottom, top)
