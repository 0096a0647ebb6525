"""FlowWarp of FlowNet 2: an image as seen from where a flow points to."""

from __future__ import annotations

import numpy as np

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
    to_images,
)


@register("FlowWarp")
class FlowWarp(Layer):
    """y[n, c, i, j] = x[n, c] at (i + v, j + u), between its pixels; ``fill_value`` outside of it.

    x: (N, C, H, W), flow: (N, 2, H, W) with u before v  y: (N, C, H, W)
    ∂x: ∂y by the weights of the four pixels around;  ∂flow: Σ_c ∂y · the slope of x there.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.flow_warp_param
        self.fill = np.nan if p.fill_value == p.NOT_A_NUMBER else 0.0

    def reshape(self, bottom: Views, top: Views) -> None:
        x, flow = bottom[0].shape, bottom[1].shape
        self.check(len(x) == 4, f"needs an image (N, C, H, W), found {x}")
        self.check(
            flow == (x[0], 2, *x[2:]), f"needs a flow {(x[0], 2, *x[2:])} for {x}, found {flow}"
        )
        top[0].reshape(*x)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, top[0].data
        points, inside = self._points(bottom)
        found = fetch(pixel_rows(xp, bottom[0].data), points.places, points.weights)
        found = xp.where(inside[:, None], found, self.dtype.type(self.fill))
        y[...] = to_images(xp, found, y.shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        xp, shape = self.xp, bottom[0].shape
        points, inside = self._points(bottom)
        gy = xp.where(inside[:, None], pixel_rows(xp, top[0].diff), self.dtype.type(0))
        if propagate_down[0]:
            count = shape[0] * shape[2] * shape[3]
            rows = spread(xp, gy, points.places, points.weights, count)
            bottom[0].diff[...] = to_images(xp, rows, shape)
        if propagate_down[1]:
            x, gflow = pixel_rows(xp, bottom[0].data), bottom[1].diff
            for i, slope in enumerate((points.across, points.down)):
                along = xp.einsum("pc,pc->p", fetch(x, points.places, slope), gy)
                gflow[:, i] = along.reshape(gflow[:, i].shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * top[0].count

    def _points(self, bottom: Views) -> tuple[Points, Array]:
        """Where the flow points to, for N·H·W pixels, and whether that is in the image."""
        xp, flow = self.xp, bottom[1].data
        n, _, h, w = flow.shape
        across = flow[:, 0] + xp.arange(w).astype(self.dtype)
        down = flow[:, 1] + xp.arange(h).astype(self.dtype)[:, None]
        inside = (across >= 0) & (across < w) & (down >= 0) & (down < h)
        rows = between(xp, down.reshape(-1), h, clamp=True)
        columns = between(xp, across.reshape(-1), w, clamp=True)
        first = first_pixels(xp, xp.arange(n), h * w, h * w)
        return Points(rows, columns, first, w), inside.reshape(-1)
