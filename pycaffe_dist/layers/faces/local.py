"""Local: a convolution whose every window has weights of its own."""

from __future__ import annotations

from math import prod

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.windows import Windows


@register("Local")
class Local(Layer):
    """y[m, o] = Σ W[m, k, o] x[o·stride − pad + k] + b[m, o], k over the channels and the kernel.

    x: (N, C, H, W)  W: (M, 1, C·kernel², H′·W′)  b: (1, 1, M, H′·W′)  y: (N, M, H′, W′)
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p, shape = self.layer_param.local_param, bottom[0].shape
        self.check(len(shape) == 4, f"needs an image (N, C, H, W), found {shape}")
        self.check(p.num_output > 0, "num_output must be above 0")
        self.check(p.kernel_size > 0, "kernel_size must be above 0")
        self.check(p.stride > 0, "stride must be above 0")
        windows = Windows((p.kernel_size,) * 2, (p.stride,) * 2, (p.pad,) * 2, (1, 1))
        size = shape[2:]
        self.check(min(size) >= p.kernel_size, f"the kernel {p.kernel_size} is larger than {size}")
        self.windows = windows.over(size, windows.fitting(size))
        self.image = shape[1:]
        taps, places = shape[1] * p.kernel_size**2, prod(self.windows.out)
        self.add_blob((p.num_output, 1, taps, places), p.weight_filler)
        if p.bias_term:
            self.add_blob((1, 1, p.num_output, places), p.bias_filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        n, *image = bottom[0].shape
        self.check(
            tuple(image) == self.image, f"its weights are for images {self.image}, found {image}"
        )
        top[0].reshape(n, self.layer_param.local_param.num_output, *self.windows.out)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, weights = self.xp, self.params[0].data[:, 0]
        for x, y in zip(bottom[0].data, top[0].data, strict=True):
            y[...] = xp.einsum("mkp,kp->mp", weights, self._columns(x)).reshape(y.shape)
            if len(self.params) > 1:
                y += self.params[1].data.reshape(y.shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        xp, weights = self.xp, self.params[0].data[:, 0]
        for n, gy in enumerate(top[0].diff):
            gy = gy.reshape(len(gy), -1)
            if self.param_propagate_down[0]:
                columns = self._columns(bottom[0].data[n])
                self.params[0].diff[:, 0] += gy[:, None] * columns
            if len(self.params) > 1 and self.param_propagate_down[1]:
                self.params[1].diff[0, 0] += gy
            if propagate_down[0]:
                pixels = bottom[0].diff[n : n + 1]
                pixels[...] = 0
                gcolumns = xp.einsum("mkp,mp->kp", weights, gy)
                shape = (1, self.image[0], *self.windows.kernel, *self.windows.out)
                rows = slice(0, self.windows.out[0])
                self.windows.add_back(xp, gcolumns.reshape(shape), pixels, rows)

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * bottom[0].shape[0] * self.params[0].count

    def _columns(self, x: Array) -> Array:
        """What the windows of an image see: (C·kernel², H′·W′)."""
        seen = self.windows.view(self.xp, x[None])[0]
        return seen.reshape(-1, prod(self.windows.out))
