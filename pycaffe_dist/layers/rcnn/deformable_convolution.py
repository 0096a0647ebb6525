"""DeformableConvolution: a convolution whose taps lie where the net itself wants them."""

from __future__ import annotations

from math import prod

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.sampling import (
    Points,
    between,
    fetch,
    first_pixels,
    pixel_rows,
    spread,
)
from pycaffe_dist.layers.windows import read_windows


@register("DeformableConvolution")
class DeformableConvolution(Layer):
    """y[o] = Σ W[k] x[o·stride − pad + k·dilation + offset[k, o]] + b, x between its pixels.

    x: (N, C, H, W)  offsets: (N, G·kh·kw·2, H′, W′), G = ``deformable_group``: for each group of
    channels of x and each tap how far it is moved down and to the right; outside of x is 0
    W: (M, C/group, kh, kw)  b: (M,)  y: (N, M, H′, W′)
    ∂x: by the weights of the four pixels around;  ∂offset: Σ_c ∂column · the slope of x there.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.deformable_convolution_param
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs an image (N, C, H, W), found {shape}")
        self.check(p.axis == 1, f"knows only axis 1, found {p.axis}")
        self.channels, self.outputs = shape[1], p.num_output
        self.group, self.moved = p.group, p.deformable_group
        self.check(self.outputs > 0, "num_output must be above 0")
        for name, groups in (("group", self.group), ("deformable_group", self.moved)):
            self.check(
                groups > 0 and self.channels % groups == 0,
                f"{self.channels} channels must be a multiple of {name} {groups}",
            )
        self.check(
            self.outputs % self.group == 0,
            f"num_output {self.outputs} must be a multiple of group {self.group}",
        )
        self.windows = read_windows(self, 2, p)
        per_group = self.channels // self.group
        self.add_blob((self.outputs, per_group, *self.windows.kernel), p.weight_filler)
        if p.bias_term:
            self.add_blob((self.outputs,), p.bias_filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        n, c, *size = bottom[0].shape
        self.check(c == self.channels, f"its weights are for {self.channels} channels, found {c}")
        self.windows = self.windows.over(size, self.windows.fitting(size))
        out = self.windows.out
        self.check(min(out) > 0, f"the kernel {self.windows.kernel} leaves no output for {size}")
        wanted = (n, self.moved * prod(self.windows.kernel) * 2, *out)
        self.check(bottom[1].shape == wanted, f"needs offsets {wanted}, found {bottom[1].shape}")
        top[0].reshape(n, self.outputs, *out)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, weights = self.xp, self._weights(self.params[0].data)
        for x, offsets, y in zip(bottom[0].data, bottom[1].data, top[0].data, strict=True):
            points, inside = self._points(offsets)
            columns = self._columns(self._rows(x), points, inside)
            y[...] = xp.matmul(weights, columns).reshape(y.shape)
            if len(self.params) > 1:
                y += self.params[1].data[:, None, None]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        xp, weights = self.xp, self._weights(self.params[0].data)
        for n, gy in enumerate(top[0].diff):
            by_group = gy.reshape(self.group, self.outputs // self.group, -1)
            rows = self._rows(bottom[0].data[n])
            points, inside = self._points(bottom[1].data[n])
            if self.param_propagate_down[0]:
                columns = self._columns(rows, points, inside).swapaxes(1, 2)
                self._weights(self.params[0].diff)[...] += xp.matmul(by_group, columns)
            if len(self.params) > 1 and self.param_propagate_down[1]:
                self.params[1].diff[...] += gy.sum(axis=(1, 2))
            if any(propagate_down):
                gcolumns = xp.matmul(weights.swapaxes(1, 2), by_group)
                self._backward_image(n, gcolumns, rows, points, inside, propagate_down, bottom)

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * top[0].count * self.params[0].count_from(1)

    def _backward_image(
        self,
        n: int,
        gcolumns: Array,
        rows: Array,
        points: Points,
        inside: Array,
        propagate_down: Flags,
        bottom: Views,
    ) -> None:
        """∂x and ∂offset of an image, from the gradient of its columns."""
        xp = self.xp
        # (G, C/G, taps · windows) to a row of C/G channels for each point.
        at_points = gcolumns.reshape(self.moved, self.channels // self.moved, -1)
        at_points = at_points.swapaxes(1, 2).reshape(len(inside), -1) * inside[:, None]
        if propagate_down[0]:
            gx = bottom[0].diff[n]
            by_pixel = spread(xp, at_points, points.places, points.weights, len(rows))
            channels_last = by_pixel.reshape(self.moved, *gx.shape[1:], -1)
            gx[...] = xp.moveaxis(channels_last, 3, 1).reshape(gx.shape)
        if propagate_down[1]:
            goffsets = bottom[1].diff[n]
            moves = goffsets.reshape(self.moved, -1, 2, *goffsets.shape[1:])
            for i, slope in enumerate((points.down, points.across)):
                along = xp.einsum("pc,pc->p", fetch(rows, points.places, slope), at_points)
                moves[:, :, i] = along.reshape(moves[:, :, i].shape)

    def _weights(self, array: Array) -> Array:
        """A matrix for each group."""
        return array.reshape(self.group, self.outputs // self.group, -1)

    def _rows(self, x: Array) -> Array:
        """An image as a row for each pixel of each of the G groups of channels."""
        return pixel_rows(self.xp, x.reshape(self.moved, -1, *x.shape[1:]))

    def _columns(self, rows: Array, points: Points, inside: Array) -> Array:
        """(group, C/group · taps, windows): what the taps see."""
        seen = fetch(rows, points.places, points.weights) * inside[:, None]
        seen = seen.reshape(self.moved, -1, seen.shape[1]).swapaxes(1, 2)
        return seen.reshape(self.group, -1, prod(self.windows.out))

    def _points(self, offsets: Array) -> tuple[Points, Array]:
        """Where the taps of an image look, G · taps · windows points, and which of them see it."""
        xp, w = self.xp, self.windows
        moves = offsets.reshape(self.moved, *w.kernel, 2, *w.out)
        axes, inside = [], xp.ones((), bool)
        for i, size in enumerate(w.image):
            taps = xp.asarray(w.starts(i)) + xp.arange(w.kernel[i])[:, None] * w.dilation[i]
            taps = taps[:, None, :, None] if i == 0 else taps[None, :, None, :]
            position = (moves[:, :, :, i] + taps).astype(self.dtype).reshape(-1)
            inside = inside & (position >= 0) & (position < size)
            axes.append(between(xp, position, size, clamp=True))
        pixels = prod(w.image)
        first = first_pixels(xp, xp.arange(self.moved), pixels, prod(w.kernel) * prod(w.out))
        return Points(axes[0], axes[1], first, w.image[1]), inside
