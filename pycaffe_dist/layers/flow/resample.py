"""Resample and Downsample of FlowNet 2: images at another size; neither has a gradient."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.rcnn.rois import rounded
from pycaffe_dist.layers.sampling import resized

Factors = tuple[np.float32, np.float32]  # old size / new size, of the axis and of the other one


class Resized(Layer):
    """x: (N, C, H, W) to (N, C, H′, W′); the size is given, or that of a second bottom."""

    bottoms = (1, 2)
    label_bottoms = (1,)

    def given_size(self) -> tuple[int, int]:
        raise NotImplementedError

    def matrix(self, size: int, wanted: int, other: np.float32) -> Array:
        """What becomes of an axis, (wanted, size); ``other`` is the other one's size / wanted."""
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        size = bottom[1].shape[2:] if len(bottom) > 1 else self.given_size()
        self.check(len(size) == 2 and min(size) > 0, f"{tuple(size)} is no height and width")
        top[0].reshape(*shape[:2], *size)
        factors = [np.float32(o) / np.float32(n) for o, n in zip(shape[2:], size, strict=True)]
        self.matrices = [
            self.matrix(old, new, other)
            for old, new, other in zip(shape[2:], size, factors[::-1], strict=True)
        ]

    def on_engine(self) -> list[Array]:
        return [self.xp.asarray(matrix, self.dtype) for matrix in self.matrices]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not any(propagate_down), "has no gradient, but one is asked of it")

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * top[0].count


@register("Resample")
class Resample(Resized):
    """y[i, j] = Σ w(i, p)·w(j, q)·x[p, q] over the pixels near by, the weights summing up to 1.

    Position i stands at pixel i·f + g/2 − ½, f = H/H′ and g = W/W′ (whose halves are swapped in
    FlowNet 2, with which its weights were trained).  w: LINEAR a tent over ±1, CUBIC Catmull-Rom's
    over ±2, both f times as wide where ``antialias`` and either axis shrinks; NEAREST one pixel.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.resample_param
        self.method, self.antialias = p.type, p.antialias
        self.check(
            p.type in (p.NEAREST, p.LINEAR, p.CUBIC),
            f"type {p.ResampleType.Name(p.type)} is none of NEAREST, LINEAR and CUBIC",
        )

    def given_size(self) -> tuple[int, int]:
        p = self.layer_param.resample_param
        return p.height, p.width

    def matrix(self, size: int, wanted: int, other: np.float32) -> Array:
        p, factor = self.layer_param.resample_param, np.float32(size) / np.float32(wanted)
        at = np.arange(wanted, dtype=np.float32) * factor + other / 2 - np.float32(0.5)
        nearest = np.clip(rounded(np, at), 0, size - 1)
        if self.method == p.NEAREST:
            return (nearest[:, None] == np.arange(size)).astype(np.float32)
        shrinks = self.antialias and (factor > 1 or other > 1)
        sharpness = 1 / factor if shrinks else np.float32(1)
        reach = 2 if factor < 1 else np.ceil((4 if self.method == p.CUBIC else 2) / sharpness)
        distance = at[:, None] - np.arange(size)
        near = abs(rounded(np, at)[:, None] - np.arange(size)) <= reach
        kernel = catmull_rom if self.method == p.CUBIC else tent
        weights = kernel(sharpness * distance) * near
        total = weights.sum(axis=1, keepdims=True)
        return weights / np.where(total == 0, 1, total)

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = resized(self.xp, bottom[0].data, *self.on_engine())


@register("Downsample")
class Downsample(Resized):
    """y = Σ w·x / Σ w over pixels that are numbers, NaN where the others weigh half as much.

    w is a tent that is 0 at the places of the next outputs; outermost outputs stand on outermost
    pixels.
    """

    def given_size(self) -> tuple[int, int]:
        p = self.layer_param.downsample_param
        return p.top_height, p.top_width

    def matrix(self, size: int, wanted: int, other: np.float32) -> Array:
        scale = np.float32(size - 1) / np.float32(max(1, wanted - 1))
        at = np.arange(wanted, dtype=np.float32) / np.float32(max(1, wanted - 1)) * (size - 1)
        # An axis of one pixel, or of one output, has no distance to measure by.
        return tent((np.arange(size) - at[:, None]) / max(scale, np.float32(1e-6)))

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x, y = self.xp, bottom[0].data, top[0].data
        if x.shape == y.shape:
            y[...] = x
            return
        matrices = self.on_engine()
        number = x == x
        weight = resized(xp, number.astype(self.dtype), *matrices)
        lost = resized(xp, (~number).astype(self.dtype), *matrices)
        total = resized(xp, xp.where(number, x, self.dtype.type(0)), *matrices)
        missing = lost > weight / 2
        y[...] = xp.where(missing, self.dtype.type(np.nan), total / xp.where(missing, 1, weight))


def tent(x: Array) -> Array:
    """1 − |x|, and 0 beyond 1."""
    return np.maximum(1 - abs(x), 0)


def catmull_rom(x: Array) -> Array:
    """The cubic convolution with a = −½."""
    x = abs(x)
    near, far = x * x * (1.5 * x - 2.5) + 1, x * (x * (-0.5 * x + 2.5) - 4) + 2
    return np.where(x <= 1, near, np.where(x < 2, far, 0))
