"""Unpooling of DeconvNet: the way back through a pooling."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.segmentation.upsample import Unpool
from pycaffe_dist.layers.windows import Windows


@register("Unpooling")
class Unpooling(Unpool):
    """From windows (N, C, h, w) back to an image (N, C, H, W).

    MAX: y[mask] = x, or without a mask x at the first pixel of its window, or the last of the image
    if the window begins behind it.
    AVE: y = Σ x / area over all windows that see the pixel;  TILE: y = Σ x.
    ∂x: MAX ∂y[mask]; AVE and TILE the mean of ∂y over the window, which for TILE is not the
    derivative, but what the layer has always done.

    H is ``unpool_h`` or ``unpool_size``; else max((h − 1)·stride + kernel, h·stride + 1).
    """

    bottoms = (1, 2)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.unpooling_param
        self.method = p.unpool
        kernel, stride = self._pair("kernel"), self._pair("stride")
        self.check(min(kernel) > 0, f"give kernel_size above 0, or kernel_h and kernel_w: {kernel}")
        self.check(min(stride) > 0, f"the stride {stride} has a step of 0")
        self.check(not any(self._pair("pad")), "takes no pad")
        self.windows = Windows(kernel, stride, (0, 0), (1, 1))
        self.check(
            len(bottom) == 1 or self.method == p.MAX, "only MAX takes a second bottom, the mask"
        )

    def size(self, bottom: Views) -> tuple[int, int]:
        p = self.layer_param.unpooling_param
        if p.HasField("unpool_size"):
            return p.unpool_size, p.unpool_size
        if p.HasField("unpool_h") and p.HasField("unpool_w"):
            return p.unpool_h, p.unpool_w
        w = self.windows
        sides = zip(bottom[0].shape[2:], w.kernel, w.stride, strict=True)
        h, w_ = (max((n - 1) * s + k, n * s + 1) for n, k, s in sides)
        return h, w_

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape([bottom[0], bottom[-1]], top)
        self.windows = self.windows.over(top[0].shape[2:], bottom[0].shape[2:])
        self.check(
            self.method == self.layer_param.unpooling_param.MAX
            or all(
                (n - 1) * s < size
                for n, s, size in zip(
                    bottom[0].shape[2:], self.windows.stride, top[0].shape[2:], strict=True
                )
            ),
            f"the windows of {bottom[0].shape} do not begin within {top[0].shape[2:]} pixels",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        if self.method == self.layer_param.unpooling_param.MAX:
            super().forward(bottom, top)
            return
        y = top[0].data
        y[...] = 0
        x = bottom[0].data * self._share()
        kernel = (1,) * len(self.windows.kernel)
        columns = x.reshape(*x.shape[:2], *kernel, *x.shape[2:])
        columns = columns + self.xp.zeros((*self.windows.kernel, 1, 1), x.dtype)
        self.windows.add_back(self.xp, columns, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self.method == self.layer_param.unpooling_param.MAX:
            super().backward(top, [*propagate_down, False][:2], bottom)
            return
        if propagate_down[0]:
            seen = self.windows.view(self.xp, top[0].diff)
            sums = self.xp.einsum("ncijhw->nchw", seen)
            bottom[0].diff[...] = sums * self.shares()

    def shares(self) -> Array:
        """1 / how many pixels each window has."""
        w = self.windows
        sides = [
            np.minimum(w.starts(axis) + w.kernel[axis], w.image[axis]) - w.starts(axis)
            for axis in range(2)
        ]
        return self.xp.asarray(1 / np.outer(*sides), self.dtype)

    def _share(self) -> Array:
        """What of a value each pixel of its window gets."""
        ave = self.method == self.layer_param.unpooling_param.AVE
        return self.shares() if ave else self.dtype.type(1)

    def _places(self, bottom: Views, shape: tuple[int, ...]) -> Array:
        if len(bottom) > 1:
            return super()._places(bottom, shape)
        xp, w = self.xp, self.windows
        starts = (np.minimum(w.starts(axis), w.image[axis] - 1) for axis in range(2))
        rows, columns = (xp.asarray(places) for places in starts)
        planes = xp.arange(shape[0] * shape[1]).reshape(-1, 1, 1) * (shape[2] * shape[3])
        return (planes + rows[:, None] * shape[3] + columns).reshape(-1)

    def _pair(self, name: str) -> tuple[int, int]:
        p = self.layer_param.unpooling_param
        whole = "kernel_size" if name == "kernel" else name
        if p.HasField(f"{name}_h") or p.HasField(f"{name}_w"):
            self.check(not p.HasField(whole), f"give either {whole} or {name}_h and {name}_w")
            return getattr(p, f"{name}_h"), getattr(p, f"{name}_w")
        return (getattr(p, whole),) * 2
