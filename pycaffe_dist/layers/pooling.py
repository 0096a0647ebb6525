"""Pooling: the largest, the mean, or a random one of the values in each window."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from pycaffe_dist.aliases import Array, Index
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.windows import Sizes, Windows, batches, scratch
from pycaffe_dist.proto.caffe_pb2 import TRAIN, PoolingParameter
from pycaffe_dist.rng import generator

LOWEST = -float(np.finfo(np.float32).max)  # what a maximum begins from, for float64 too


@register("Pooling")
class Pooling(Layer):
    """x: (N, C, H, W) to y: (N, C, H′, W′), H′ = ⌈(H + 2·pad − kernel) / stride⌉ + 1 (or ⌊ ⌋).

    MAX: y = max x.  A second top says where in its channel: h·W + w.
    AVE: y = Σx / area, where padding counts as area.
    STOCHASTIC: in training one of the values, with probability x / Σx; else y = Σx² / Σx.

    The last windows may reach over the end of the image, or even begin there and see nothing.
    """

    tops = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.pooling_param
        self.everything = p.global_pooling
        kernel, stride, pad = self._kernel(p), self._pair(p, "stride"), self._pair(p, "pad")
        self.check(min(stride) > 0, f"the stride {stride} has a step of 0")
        if self.everything:
            self.check(
                stride == (1, 1) and pad == (0, 0),
                f"global_pooling needs stride 1 and pad 0, found stride {stride} and pad {pad}",
            )
        elif any(pad):
            self.check(p.pool != PoolingParameter.STOCHASTIC, "STOCHASTIC pooling takes no pad")
            self.check(
                pad[0] < kernel[0] and pad[1] < kernel[1],
                f"the pad {pad} must be smaller than the kernel {kernel}",
            )
        self.windows = Windows(kernel, stride, pad, (1, 1))
        self.method = self._method(p.pool)
        self.check(
            len(top) == 1 or isinstance(self.method, Maximum),
            "only MAX pooling has a second top, the mask",
        )

    def _kernel(self, p: PoolingParameter) -> Sizes:
        sides = p.HasField("kernel_h"), p.HasField("kernel_w")
        if self.everything:
            self.check(
                not (p.HasField("kernel_size") or any(sides)),
                "global_pooling takes the whole image: give no kernel size",
            )
            return 1, 1
        self.check(
            p.HasField("kernel_size") != all(sides),
            "give either kernel_size or both of kernel_h and kernel_w",
        )
        kernel = (p.kernel_size,) * 2 if p.HasField("kernel_size") else (p.kernel_h, p.kernel_w)
        self.check(min(kernel) > 0, f"the kernel {kernel} has a side of 0")
        return kernel

    def _pair(self, p: PoolingParameter, name: str) -> Sizes:
        """Such as ``pad`` for both axes, or else ``pad_h`` and ``pad_w``."""
        sides = f"{name}_h", f"{name}_w"
        given = [p.HasField(side) for side in sides]
        if not any(given):
            return (getattr(p, name),) * 2
        self.check(
            all(given) and not p.HasField(name),
            f"give either {name} or both of {sides[0]} and {sides[1]}",
        )
        return getattr(p, sides[0]), getattr(p, sides[1])

    def _method(self, pool: int) -> Method:
        if pool == PoolingParameter.MAX:
            return Maximum(self)
        if pool == PoolingParameter.AVE:
            return Mean(self)
        return Drawn(self) if self.phase == TRAIN else Expected(self)

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        if self.everything:
            self.windows = Windows(shape[2:], (1, 1), (0, 0), (1, 1))
        out = [self._outputs(axis, size) for axis, size in enumerate(shape[2:])]
        self.check(
            min(*out, *shape[2:]) > 0,
            f"the kernel {self.windows.kernel} with pad {self.windows.pad} does not fit into the "
            f"bottom {shape}",
        )
        self.windows = self.windows.over(shape[2:], out)
        for view in top:
            view.reshape(*shape[:2], *out)

    def _outputs(self, axis: int, size: int) -> int:
        w = self.windows
        stride, pad = w.stride[axis], w.pad[axis]
        room = size + 2 * pad - w.kernel[axis]
        floor = self.layer_param.pooling_param.round_mode == PoolingParameter.FLOOR
        count = (room // stride if floor else -(-room // stride)) + 1
        # With padding, on either axis, the last window must begin inside of the image.
        return count - 1 if any(w.pad) and (count - 1) * stride >= size + pad else count

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        self.method.begin(y.shape)
        for i in batches(x):
            self.method.forward(x[i], y[i], i)
        if len(top) > 1 and isinstance(self.method, Maximum):
            top[1].data[...] = self.method.places()

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx, gy = bottom[0].diff, top[0].diff
            gx[...] = 0
            for i in batches(gx):
                self.method.backward(gy[i], gx[i], i)

    def flops(self, bottom: Views, top: Views) -> int:
        return int(top[0].count * prod(self.windows.kernel))


class Method:
    """How the values of a window become one.  Images come in batches, ``i`` says which."""

    def __init__(self, layer: Pooling) -> None:
        self.layer = layer
        self.xp = layer.xp
        self.dtype = layer.dtype

    @property
    def windows(self) -> Windows:
        return self.layer.windows

    def begin(self, shape: Sizes) -> None:
        """A forward pass begins, for tops of this shape."""

    def forward(self, x: Array, y: Array, i: slice) -> None:
        raise NotImplementedError

    def backward(self, gy: Array, gx: Array, i: slice) -> None:
        """Add to ``gx``, which is 0."""
        raise NotImplementedError

    def sum(self, x: Array, y: Array) -> None:
        """Fill y with Σx in each window: first of its rows, then of their sums."""
        rows = scratch(self.xp, "rows", (*y.shape[:3], x.shape[3]), self.dtype)
        for axis, source, target in ((0, x, rows), (1, rows, y)):
            if self.windows.out[axis] == 1:
                end = self.windows.kernel[axis] - self.windows.pad[axis]
                seen = source[_at(axis, slice(end))]
                self.xp.sum(seen, axis=2 + axis, keepdims=True, out=target)
                continue
            target[...] = 0
            for _, windows, pixels in self.windows.taps(axis):
                target[_at(axis, windows)] += source[_at(axis, pixels)]


class Mean(Method):
    """y = Σx / area     ∂x = Σ ∂y / area"""

    def forward(self, x: Array, y: Array, i: slice) -> None:
        self.sum(x, y)
        y /= self.areas()

    def backward(self, gy: Array, gx: Array, i: slice) -> None:
        share = scratch(self.xp, "value", gy.shape, self.dtype)
        self.xp.divide(gy, self.areas(), out=share)
        rows = scratch(self.xp, "rows", (*gy.shape[:3], gx.shape[3]), self.dtype)
        rows[...] = 0
        for axis, source, target in ((1, share, rows), (0, rows, gx)):
            for _, windows, pixels in self.windows.taps(axis):
                target[_at(axis, pixels)] += source[_at(axis, windows)]

    def areas(self) -> Array:
        """Of each window, with the padding but not with what lies beyond it."""
        w = self.windows
        sides = []
        for axis, size in enumerate(w.image):
            ends = np.minimum(w.starts(axis) + w.kernel[axis], size + w.pad[axis])
            sides.append(ends - w.starts(axis))
        areas = np.outer(*sides).astype(self.dtype)
        areas[areas == 0] = np.nan  # as 0 / 0 is, but without a warning
        return self.xp.asarray(areas)


class Choice(Method):
    """One value of each window is chosen; it alone gets the gradient.

    The choice of tap (i, j) is kept as 1 + i·kernel_w + j, no choice as 0.
    """

    choice: Array = np.empty(0, bool)

    def begin(self, shape: Sizes) -> None:
        taps = prod(self.windows.kernel)
        dtype = np.uint8 if taps < 256 else np.uint16 if taps < 65536 else np.uint32
        if self.choice.shape != shape or self.choice.dtype != dtype:
            self.choice = self.xp.empty(shape, dtype)

    def backward(self, gy: Array, gx: Array, i: slice) -> None:
        pixels, chosen = self.pixels(i, gx.shape)
        if not chosen.all():
            gy = self.xp.where(chosen, gy, self.dtype.type(0))
        self.xp.add.at(gx.reshape(-1), pixels, gy.reshape(-1))

    def pixels(self, i: slice, shape: Sizes) -> tuple[Array, Array]:
        """Flat indices of what some images of ``shape`` chose, and whether they chose at all."""
        places = self.places(i)
        chosen = places >= 0
        places *= chosen
        channels = self.xp.arange(shape[0] * shape[1]).reshape(*shape[:2], 1, 1)
        places += channels * (shape[2] * shape[3])
        return places.reshape(-1), chosen

    def places(self, i: slice = slice(None)) -> Array:
        """Where in its channel each choice is: h·W + w, −1 for none."""
        w = self.windows
        height, width = (np.arange(k) for k in w.kernel)
        taps = height[:, None] * w.image[1] + width
        starts = w.starts(0)[:, None] * w.image[1] + w.starts(1)
        choice = self.choice[i]
        places = self.xp.asarray(np.append(0, taps))[choice]
        places += self.xp.asarray(starts)
        places[choice == 0] = -1
        return places


class Maximum(Choice):
    """y = max x above LOWEST; NaN is never chosen, of equal values the first, row by row."""

    def forward(self, x: Array, y: Array, i: slice) -> None:
        # Of each row of a window its columns, then the rows: the first of equals wins.
        shape = (*x.shape[:3], y.shape[3])
        rows = scratch(self.xp, "rows", shape, self.dtype)
        columns = scratch(self.xp, "columns chosen", shape, self.choice.dtype)
        self._along(1, x, None, rows, columns)
        self._along(0, rows, columns, y, self.choice[i])

    def _along(self, axis: int, x: Array, choices: Array | None, y: Array, choice: Array) -> None:
        """The maxima along one axis; ``choices`` of the other axis led to x."""
        xp, number = self.xp, choice.dtype.type
        value = scratch(xp, "value", y.shape, self.dtype)
        above = scratch(xp, "above", y.shape, np.uint8)
        candidate = scratch(xp, "candidate", y.shape, choice.dtype)
        y[...], choice[...] = LOWEST, 0
        for k, windows, pixels in self.windows.taps(axis):
            at, seen = _at(axis, windows), _at(axis, pixels)
            if windows != slice(0, self.windows.out[axis]):
                value[...] = LOWEST
            value[at] = x[seen]
            xp.greater(value, y, out=above.view(bool))
            xp.fmax(value, y, out=y)
            # Later candidates have larger numbers: the largest is the one that stands.
            if choices is None:
                xp.multiply(above, number(k + 1), out=candidate)
            else:
                xp.add(choices[seen], number(k * self.windows.kernel[1]), out=candidate[at])
                candidate *= above
            xp.maximum(candidate, choice, out=choice)


class Drawn(Choice):
    """The first value, row by row, with which the sum reaches a random part of the whole sum."""

    def forward(self, x: Array, y: Array, i: slice) -> None:
        xp, choice = self.xp, self.choice[i]
        part = xp.asarray(1 - generator().random_sample(y.shape), self.dtype)  # in (0, 1]
        y[...] = 0
        for _, at, seen in self._taps():
            y[at] += x[seen]
        part *= y
        y[...], choice[...] = 0, 0
        for number, at, seen in self._taps():
            y[at] += x[seen]
            reached = (y[at] >= part[at]) & (choice[at] == 0)
            choice[at] += reached * choice.dtype.type(number)
        pixels, chosen = self.pixels(i, x.shape)
        values = x.reshape(-1)[pixels].reshape(y.shape)
        y[...] = xp.where(chosen, values, self.dtype.type(0))

    def _taps(self) -> Iterator[tuple[int, Index, Index]]:
        for i, rows, pixel_rows in self.windows.taps(0):
            for j, columns, pixel_columns in self.windows.taps(1):
                number = 1 + i * self.windows.kernel[1] + j
                yield number, (..., rows, columns), (..., pixel_rows, pixel_columns)


class Expected(Method):
    """y = Σx² / Σx, 0 unless Σx is above 0"""

    def forward(self, x: Array, y: Array, i: slice) -> None:
        total = scratch(self.xp, "value", y.shape, self.dtype)
        self.sum(x, total)
        self.sum(x * x, y)
        positive = total > 0
        y *= positive
        y /= self.xp.where(positive, total, self.dtype.type(1))

    def backward(self, gy: Array, gx: Array, i: slice) -> None:
        raise self.layer.error("STOCHASTIC pooling has a gradient in training only")


def _at(axis: int, part: slice) -> Index:
    """An index for a part of one spatial axis with all of the other."""
    return (..., part, slice(None)) if axis == 0 else (..., part)
