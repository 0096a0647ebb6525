"""Layers that add, scale, join, cut and reduce."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.chains import Chainable
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates
from pycaffe_dist.engines.cupy.layers.products import PARTS
from pycaffe_dist.layers.argmax import ArgMax
from pycaffe_dist.layers.batch_reindex import BatchReindex
from pycaffe_dist.layers.bias import Bias
from pycaffe_dist.layers.concat import Concat, Pieces, Slice
from pycaffe_dist.layers.crop import Crop
from pycaffe_dist.layers.eltwise import Eltwise
from pycaffe_dist.layers.reduction import Reduction
from pycaffe_dist.layers.scale import Scale
from pycaffe_dist.layers.split import Split
from pycaffe_dist.layers.tile import Tile
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter, ReductionParameter


@accelerates("Eltwise")
class DeviceEltwise(Chainable, OnDevice, Eltwise):
    def backward_alone(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff
        for i, view in enumerate(bottom):
            if not propagate_down[i]:
                continue
            gx = view.diff
            if self.operation == EltwiseParameter.SUM:
                self.launch("scale", gx.size, self.coeffs[i], gy, gx)
            elif self.operation == EltwiseParameter.MAX:
                self.launch("eltwise_max_backward", gx.size, i, gy, self._winner(gx), gx)
            elif self.stable:
                self._rest_of_product(i, bottom, top)
                self.launch("multiply", gx.size, gx, gy, gx)
            else:
                arrays = view.data, top[0].data, gy, gx
                self.launch("eltwise_quotient_backward", gx.size, *arrays)

    def _multiply(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        self.launch("multiply", y.size, bottom[0].data, bottom[1].data, y)
        for view in bottom[2:]:
            self.launch("multiply", y.size, y, view.data, y)

    def _add(self, bottom: Views, top: Views) -> None:
        y, c = top[0].data, self.coeffs
        if top[0].blob is bottom[0].blob:
            y.fill(0)  # in place, Caffe loses the first bottom
        self.launch("axpby", y.size, c[0], bottom[0].data, c[1], bottom[1].data, y)
        for view, coeff in zip(bottom[2:], c[2:], strict=True):
            self.launch("axpy", y.size, coeff, view.data, y)

    def _maximum(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        winner = self._winner(y)
        first, second = bottom[0].data, bottom[1].data
        self.launch("eltwise_max_first", y.size, first, second, y, winner)
        for i, view in enumerate(bottom[2:], 2):
            self.launch("eltwise_max_next", y.size, i, view.data, y, winner)

    def _winner(self, y: DeviceArray) -> Any:
        return self.kept("winner", y.shape, np.int32)


@accelerates("Bias")
class DeviceBias(OnDevice, Bias):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        _, count, inner = self.shape
        self.launch("bias_forward", x.size, count, inner, False, x, self._bias(bottom).data, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff
        if propagate_down[0] and top[0].blob is not bottom[0].blob:
            bottom[0].diff[...] = gy
        if len(bottom) > 1:
            if propagate_down[1]:
                self.sums("channel_sums", self.shape, gy, out=bottom[1].diff)
        elif self.param_propagate_down[0]:
            self.sums("channel_sums", self.shape, gy, out=self.params[0].diff, keep=1)


@accelerates("Scale")
class DeviceScale(Chainable, OnDevice, Scale):
    def forward_alone(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        _, count, inner = self.shape
        if top[0].blob is bottom[0].blob and self.needs_backward:
            self.input_room(bottom)[...] = x
        scale = self._scale(bottom).data
        if self.bias_term:
            bias = self.params[-1].data
            self.launch("scale_bias_forward", x.size, count, inner, x, scale, bias, y)
        else:
            self.launch("scale_forward", x.size, count, inner, x, scale, y)

    def backward_alone(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff
        _, count, inner = self.shape
        if self.bias_term and self.param_propagate_down[-1]:
            self.sums("channel_sums", self.shape, gy, out=self.params[-1].diff, keep=1)
        if propagate_down[1] if len(bottom) > 1 else self.param_propagate_down[0]:
            in_place = top[0].blob is bottom[0].blob
            x = self.input_room(bottom) if in_place else bottom[0].data
            gs = self._scale(bottom).diff
            keep = 0 if len(bottom) > 1 or self._overwrites() else 1
            self.sums("channel_dots", self.shape, gy, x, out=gs, keep=keep)
            if not propagate_down[0] and not in_place and self.shape[0] * self.shape[2] > 1:
                # Caffe keeps the products there on the way to their sum, asked for or not.
                self.launch("multiply", gy.size, gy, x, bottom[0].diff)
        if propagate_down[0]:
            scale, gx = self._scale(bottom).data, bottom[0].diff
            self.launch("scale_forward", gy.size, count, inner, gy, scale, gx)

    def input_room(self, bottom: Views) -> Any:
        """For what a layer in place has found, until its backward pass."""
        return self.kept("input", bottom[0].shape)


class DevicePieces(OnDevice, Pieces):
    """A part of a blob along the axis is a run of values every so often."""

    def runs(self, whole: View, pieces: Views) -> list[tuple[int, int, int]]:
        """Of each piece: the values in a run, those of the whole, and where the run begins."""
        inner = whole.count_from(self.axis + 1)
        sizes = [view.shape[self.axis] * inner for view in pieces]
        total = whole.shape[self.axis] * inner
        return [(size, total, sum(sizes[:i])) for i, size in enumerate(sizes)]


@accelerates("Concat")
class DeviceConcat(DevicePieces, Concat):
    def forward(self, bottom: Views, top: Views) -> None:
        if len(bottom) > 1:
            y = top[0].data
            for x, run in zip(bottom, self.runs(top[0], bottom), strict=True):
                self.launch("copy_part", x.count, *run, x.data, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if len(bottom) == 1:
            return
        gy = top[0].diff
        for i, run in enumerate(self.runs(top[0], bottom)):
            if propagate_down[i]:
                self.launch("take_part", bottom[i].count, *run, gy, bottom[i].diff)


@accelerates("Slice")
class DeviceSlice(DevicePieces, Slice):
    def forward(self, bottom: Views, top: Views) -> None:
        if len(top) > 1:
            x = bottom[0].data
            for y, run in zip(top, self.runs(bottom[0], top), strict=True):
                self.launch("take_part", y.count, *run, x, y.data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0] and len(top) > 1:
            gx = bottom[0].diff
            for y, run in zip(top, self.runs(bottom[0], top), strict=True):
                self.launch("copy_part", y.count, *run, y.diff, gx)


@accelerates("Crop")
class DeviceCrop(OnDevice, Crop):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        self.launch("crop_forward", y.size, x.ndim, self._geometry(bottom, top), x, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gy, gx = top[0].diff, bottom[0].diff
            self.launch("crop_backward", gx.size, gx.ndim, self._geometry(bottom, top), gy, gx)

    def _geometry(self, bottom: Views, top: Views) -> Any:
        offsets = [part.start or 0 for part in self.inside]
        return self.engine.constants((*bottom[0].shape, *top[0].shape, *offsets))


@accelerates("Tile")
class DeviceTile(OnDevice, Tile):
    def forward(self, bottom: Views, top: Views) -> None:
        arrays = bottom[0].data, top[0].data
        self.launch("tile_forward", top[0].count, self.tiles, self.inner, *arrays)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            arrays = top[0].diff, bottom[0].diff
            self.launch("tile_backward", bottom[0].count, self.tiles, self.inner, *arrays)


@accelerates("Split")
class DeviceSplit(OnDevice, Split):
    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        total = bottom[0].diff
        if len(top) == 1:
            total[...] = top[0].diff
            return
        self.launch("add", total.size, top[0].diff, top[1].diff, total)
        for view in top[2:]:
            self.launch("add", total.size, total, view.diff, total)


@accelerates("BatchReindex")
class DeviceBatchReindex(OnDevice, BatchReindex):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y, indices = bottom[0].data, top[0].data, bottom[1].data
        num, size = len(x), prod(x.shape[1:])

        def message(_: float, at: int) -> str:
            return f"index {float(indices[at]):g} at {at} is not one of the {num} items"

        # Rounded down, as here even a little below 0 is refused.
        self.engine.check_numbers(self, self.xp.floor(indices), num, message)
        self.launch("take_rows", y.size, size, num, indices, x, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its indices a gradient")
        if propagate_down[0]:
            gy, gx, indices = top[0].diff, bottom[0].diff, bottom[1].data
            gx.fill(0)
            size = prod(gx.shape[1:])
            sizes = PARTS, size, len(gy), len(gx)
            self.launch("add_rows", PARTS * size, *sizes, indices, gy, gx)


@accelerates("Reduction")
class DeviceReduction(OnDevice, Reduction):
    def forward(self, bottom: Views, top: Views) -> None:
        x, shape = bottom[0].data, (1, self.num, self.size)
        out, scale = top[0].data, float(self.coeff)
        if self.operation == ReductionParameter.SUMSQ:
            self.sums("channel_dots", shape, x, x, out=out, scale=scale)
        else:
            absolute = self.operation == ReductionParameter.ASUM
            kind = "channel_abs_sums" if absolute else "channel_sums"
            self.sums(kind, shape, x, out=out, scale=scale)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            x, gx = bottom[0].data, bottom[0].diff
            settings = self.size, self.operation, self.coeff
            self.launch("reduction_backward", x.size, *settings, top[0].diff, x, gx)


@accelerates("ArgMax")
class DeviceArgMax(OnDevice, ArgMax):
    def forward(self, bottom: Views, top: Views) -> None:
        k = self.top_k
        if self.axis is None:
            places = (2 * k, 0, k) if self.values else (k, 0, -1)
        else:
            places = (k * self.inner, -1, 0) if self.values else (k * self.inner, 0, -1)
        sizes = self.size, self.inner, k, *places
        self.launch("argmax", self.outer * self.inner, *sizes, bottom[0].data, top[0].data)
