"""Im2col: what a convolution sees, as a blob."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.windows import read_windows


@register("Im2col")
class Im2col(Layer):
    """y[n, c·Πkernel + k, o] = x[n, c, o·stride − pad + k·dilation], 0 outside of the image.

    x: (N…, C, *image)  y: (N…, C·Πkernel, *out)
    ∂x = Σ ∂y over the windows that see a pixel, whether it is asked for or not.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.axis = bottom[0].axis(self.layer_param.convolution_param.axis)
        spatial = len(bottom[0].shape) - self.axis - 1
        self.check(spatial > 0, f"needs spatial axes after axis {self.axis} of {bottom[0].shape}")
        self.windows = read_windows(self, spatial)

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        axes = self.axis + 1 + len(self.windows.kernel)
        self.check(len(shape) == axes, f"was set up for {axes} axes, the bottom is {shape}")
        out = self.windows.fitting(shape[self.axis + 1 :])
        self.check(min(out) > 0, f"the kernel {self.windows.kernel} does not fit into {shape}")
        self.windows = self.windows.over(shape[self.axis + 1 :], out)
        channels = shape[self.axis]
        for k in self.windows.kernel:
            channels *= k
        top[0].reshape(*shape[: self.axis], channels, *out)

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data.reshape(self._pixels(bottom))
        top[0].data.reshape(self._columns(bottom))[...] = self.windows.view(self.xp, x)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gx = bottom[0].diff.reshape(self._pixels(bottom))
        gx[...] = 0
        self.windows.add_back(self.xp, top[0].diff.reshape(self._columns(bottom)), gx)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _pixels(self, bottom: Views) -> tuple[int, ...]:
        images = bottom[0].count_from(0, self.axis)
        return (images, bottom[0].shape[self.axis], *self.windows.image)

    def _columns(self, bottom: Views) -> tuple[int, ...]:
        return (*self._pixels(bottom)[:2], *self.windows.kernel, *self.windows.out)
