"""StridedSlice: TensorFlow's slicing, with its masks, or ONNX's, with axes."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType

import numpy as np

from pycaffe_dist.aliases import Array, Index, Shape
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rearranged import Rearranged


@register("StridedSlice")
class StridedSlice(Rearranged):
    """y = x[begin : end : strides, ...], an entry for each of the first axes, or of ``axes``.

    Bit i of a mask is about entry i: begin_mask and end_mask leave that end open, ellipsis_mask
    stands for all axes that have no entry, new_axis_mask makes an axis of 1, shrink_axis_mask takes
    the one value at ``begin`` and drops the axis.  Without an ellipsis, axes without an entry
    are taken whole.
    """

    everything = False

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.strided_slice_param
        self.strides = [*p.strides] or [1] * len(p.begin)
        self.check(
            len(p.begin) == len(p.end) == len(self.strides),
            f"begin, end and strides must be as many, found {len(p.begin)}, {len(p.end)} and "
            f"{len(self.strides)}",
        )
        self.check(0 not in self.strides, f"strides must not be 0, found {self.strides}")
        self.check(
            not p.axes or len(p.axes) == len(p.begin),
            f"{len(p.axes)} axes for {len(p.begin)} begin; give none or one for each",
        )

    def shape(self, x: Shape) -> Sequence[int]:
        by_axes = len(self.layer_param.strided_slice_param.axes) > 0
        self.index = self._by_axes(len(x)) if by_axes else self._by_masks()
        try:
            # The shape of x[index], by an array that takes no memory.
            shape: Shape = np.broadcast_to(np.empty((), bool), x)[self.index].shape
        except IndexError as e:
            raise self.error(f"the bottom {x}: {e}") from e
        self.check(0 not in shape, f"nothing of the bottom {x} is left: the top would be {shape}")
        return shape

    def view(self, x: Array) -> Array:
        return x[self.index]

    def _by_axes(self, axes: int) -> Index:
        p = self.layer_param.strided_slice_param
        index: list[int | slice | EllipsisType | None] = [slice(None)] * axes
        for axis, *part in zip(p.axes, p.begin, p.end, self.strides, strict=True):
            self.check(-axes <= axis < axes, f"axis {axis} is out of range for {axes} axes")
            index[axis] = slice(*part)
        return tuple(index)

    def _by_masks(self) -> Index:
        p = self.layer_param.strided_slice_param
        index: list[int | slice | EllipsisType | None] = []
        for i, (begin, end, stride) in enumerate(zip(p.begin, p.end, self.strides, strict=True)):
            bit = 1 << i
            if p.ellipsis_mask & bit:
                self.check(Ellipsis not in index, "ellipsis_mask may have one bit only")
                index.append(Ellipsis)
            elif p.new_axis_mask & bit:
                index.append(None)
            elif p.shrink_axis_mask & bit:
                index.append(begin)
            else:
                first = None if p.begin_mask & bit else begin
                last = None if p.end_mask & bit else end
                index.append(slice(first, last, stride))
        # An index of numbers alone would give a number, and no view of it.
        return tuple(index) if Ellipsis in index else (*index, Ellipsis)
