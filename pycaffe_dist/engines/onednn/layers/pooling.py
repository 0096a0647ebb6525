"""Pooling by oneDNN's, in layouts with blocks of channels."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates, layout_of
from pycaffe_dist.engines.onednn.core.blocks import blocked
from pycaffe_dist.engines.onednn.core.library import F32, INFERENCE, TRAINING, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import (
    Dims,
    Layout,
    Primitive,
    anyhow,
    dims_array,
)
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.layers import pooling as generic
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.memory import aligned

MAX, MEAN_WITH_PADDING, MEAN = 0x1FF, 0x2FF, 0x3FF  # algorithms


@accelerates("Pooling")
class Pooling(Accelerated, generic.Pooling):
    __doc__ = generic.Pooling.__doc__
    replays = True

    def prepare(self, bottom: Views, top: Views) -> None:
        if len(top) > 1:
            raise OneDnnError("the mask is NumPy's")
        self._algorithm = algorithm(self.method, self.windows)
        self._dims: tuple[Dims, Dims] = bottom[0].shape, top[0].shape
        self._made: dict[Layout, Made] = {}
        self._used = self._pooling(bottom)

    def fast_forward(self, bottom: Views, top: Views) -> None:
        made = self._used = self._pooling(bottom)
        x, y = bottom[0].blob.data_value, top[0].blob.data_value
        do(made.forward, x.read(made.image.home), y.replace(made.out.home), *made.workspace)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            made = self._used
            gx, gy = bottom[0].blob.diff_value, top[0].blob.diff_value
            above = gy.read(made.out.home)
            made.backward(gx.replace(made.image.home), above, *made.workspace)

    def _pooling(self, bottom: Views) -> Made:
        """For the layout in which the bottom is now."""
        found = layout_of(bottom[0].blob.data_value, self._dims[0])
        if found not in self._made:
            self._made[found] = self._make(found)
        return self._made[found]

    def _make(self, found: Layout) -> Made:
        """In that layout; in blocks if that is slow, though the bottom must be brought there."""
        for layout in (found, *in_blocks(self._dims[0], found.kind)):
            if layout in self._made:
                return self._made[layout]
            made = Made(self._algorithm, layout, self._dims[1], self.windows, self.needs_backward)
            if made.is_fast:
                return made
        raise OneDnnError("there are only slow implementations")


class Made:
    """The primitives for a layout of the image."""

    def __init__(
        self, algorithm: int, image: Layout, out_dims: Dims, w: Windows, backward: bool
    ) -> None:
        ends = [
            max(0, (out - 1) * stride + kernel - size - pad)
            for out, stride, kernel, size, pad in zip(
                w.out, w.stride, w.kernel, w.image, w.pad, strict=True
            )
        ]
        spacing = [dims_array(x) for x in (w.stride, w.kernel, (0, 0), w.pad, ends)]
        kind = TRAINING if backward else INFERENCE
        args = algorithm, image.md, anyhow(out_dims, image.kind), *spacing
        there = Primitive("pooling_forward", kind, *args)
        self.image, self.out = image, there.layout(library.DST)
        size = there.size_of(library.WORKSPACE)
        self.workspace = [aligned(size, np.dtype(np.uint8))] if size else []
        kept = [(Arg.WORKSPACE, there.descriptor(library.WORKSPACE))] if size else []
        self.forward = there.call((Arg.SRC, image), (Arg.DST, self.out), *kept)
        self.is_fast = "jit" in there.implementation
        if backward:
            args = algorithm, image.md, self.out.md, *spacing
            back = Primitive("pooling_backward", *args, there.pd)
            self.backward = back.call((Arg.DIFF_SRC, image), (Arg.DIFF_DST, self.out), *kept)
            self.is_fast &= "jit" in back.implementation


def algorithm(method: generic.Method, w: Windows) -> int:
    """The one that gives Caffe's answer for these windows.

    Caffe's mean counts padding, but not what lies beyond: oneDNN counts both, or neither.
    """
    axes = list(zip(w.out, w.stride, w.kernel, w.image, w.pad, strict=True))
    if any((out - 1) * stride - pad >= size for out, stride, _, size, pad in axes):
        raise OneDnnError("a window sees nothing")
    if isinstance(method, generic.Maximum):
        return MAX
    if not isinstance(method, generic.Mean):
        raise OneDnnError("STOCHASTIC is NumPy's")
    if not any(w.pad):
        return MEAN
    if any((out - 1) * stride + kernel > size + 2 * pad for out, stride, kernel, size, pad in axes):
        raise OneDnnError("windows reach beyond the padding")
    return MEAN_WITH_PADDING


def in_blocks(dims: Dims, kind: int = F32) -> list[Layout]:
    """(N, C, H, W) with channels in the blocks that vector instructions take."""
    found = (blocked(dims, block, kind) for block in (16, 8))
    return [layout for layout in found if layout is not None]
