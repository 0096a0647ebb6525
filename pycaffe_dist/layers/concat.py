"""Concat and Slice: blobs joined, and cut, along an axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import ConcatParameter, SliceParameter


class Pieces(Layer):
    """One whole blob and its pieces along an axis, which share its memory if there is one only."""

    axis: int

    def find_axis(self, param: ConcatParameter | SliceParameter, old_name: str, view: View) -> int:
        """The axis, whichever of its two names is used."""
        if not param.HasField(old_name):
            return int(view.axis(param.axis))
        old: int = getattr(param, old_name)
        self.check(
            not param.HasField("axis"), f"takes either axis or {old_name}, and both are given"
        )
        self.check(
            old < len(view.shape), f"{old_name} {old} is out of range for the shape {view.shape}"
        )
        return old

    def parts(self, whole: Array, pieces: Iterable[View]) -> Iterator[Array]:
        """For each piece, its part of the array ``whole``, in the piece's shape."""
        begin = 0
        for view in pieces:
            end = begin + view.shape[self.axis]
            yield whole[(slice(None),) * self.axis + (slice(begin, end),)]
            begin = end

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("Concat")
class Concat(Pieces):
    """y = x₁, x₂, ... one behind the other along ``axis``; ∂xᵢ is the part of ∂y that came from it.

    xᵢ: (..., Cᵢ, ...)  y: (..., Σ Cᵢ, ...)
    """

    bottoms = (1, None)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.axis = axis = self.find_axis(self.layer_param.concat_param, "concat_dim", bottom[0])
        shape = [*bottom[0].shape]
        for view in bottom[1:]:
            self.check(
                len(view.shape) == len(shape)
                and [*view.shape[:axis], *view.shape[axis + 1 :]]
                == shape[:axis] + shape[axis + 1 :],
                f"bottoms may differ in axis {axis} only, found {bottom[0].shape} and {view.shape}",
            )
        shape[axis] = sum(view.shape[axis] for view in bottom)
        top[0].reshape(*shape)
        if len(bottom) == 1:
            top[0].share_data(bottom[0])
            top[0].share_diff(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        if len(bottom) > 1:
            for x, part in zip(bottom, self.parts(top[0].data, bottom), strict=True):
                part[...] = x.data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if len(bottom) == 1:
            return
        for i, part in enumerate(self.parts(top[0].diff, bottom)):
            if propagate_down[i]:
                bottom[i].diff[...] = part


@register("Slice")
class Slice(Pieces):
    """y₁, y₂, ... = x cut along ``axis`` before each ``slice_point``, or else evenly; ∂x joins ∂yᵢ.

    x: (..., Σ Cᵢ, ...)  yᵢ: (..., Cᵢ, ...)
    """

    tops = (1, None)

    def reshape(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.slice_param
        self.axis = self.find_axis(p, "slice_dim", bottom[0])
        shape = [*bottom[0].shape]
        sizes = self._sizes(p.slice_point, shape[self.axis], len(top))
        for view, size in zip(top, sizes, strict=True):
            shape[self.axis] = size
            view.reshape(*shape)
        if len(top) == 1:
            top[0].share_data(bottom[0])
            top[0].share_diff(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        if len(top) > 1:
            for y, part in zip(top, self.parts(bottom[0].data, top), strict=True):
                y.data[...] = part

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0] and len(top) > 1:
            for y, part in zip(top, self.parts(bottom[0].diff, top), strict=True):
                part[...] = y.diff

    def _sizes(self, points: Iterable[int], size: int, tops: int) -> list[int]:
        cuts = [*points]
        if not cuts:
            self.check(size % tops == 0, f"{tops} tops cannot have equal parts of {size}")
            return [size // tops] * tops
        self.check(
            len(cuts) == tops - 1, f"{tops} tops need {tops - 1} slice_point, found {len(cuts)}"
        )
        self.check(tops <= size, f"{tops} tops cannot be cut from {size}")
        sizes = [end - begin for begin, end in zip([0, *cuts], [*cuts, size], strict=True)]
        self.check(
            all(s > 0 for s in sizes[:-1]) and sizes[-1] >= 0,
            f"slice_point must rise from above 0 to at most {size}, found {cuts}",
        )
        return sizes
