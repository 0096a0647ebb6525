"""SpatialTransformer: an image seen through an affine map that the net computes itself."""

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


@register("SpatialTransformer")
class SpatialTransformer(Layer):
    """y[n, c, i, j] = x[n, c] at θₙ·g, g = (2i/H′ − 1, 2j/W′ − 1, 1): rows first, from −1 to 1.

    x: (N, C, H, W)  θ: (N, 6) as 2 × 3 matrices, without those given as ``theta_1_1`` and so on
    y: (N, C, output_H, output_W), the size of x if not given; pixels outside of x count as 0.
    ∂x: ∂y by the weights of the four pixels around;  ∂θ: by the slope of x there.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.st_param
        self.check(p.transform_type == "affine", f'knows only "affine", not "{p.transform_type}"')
        self.check(p.sampler_type == "bilinear", f'knows only "bilinear", not "{p.sampler_type}"')
        names = [f"theta_{i}_{j}" for i in (1, 2) for j in (1, 2, 3)]
        self.fixed = [getattr(p, n) if p.HasField(n) else None for n in names]
        self.free = [i for i, value in enumerate(self.fixed) if value is None]

    def reshape(self, bottom: Views, top: Views) -> None:
        p, x, theta = self.layer_param.st_param, bottom[0].shape, bottom[1]
        self.check(len(x) == 4, f"needs an image (N, C, H, W), found {x}")
        self.check(
            len(theta.shape) > 0 and theta.shape[0] == x[0],
            f"needs a θ for each of the {x[0]} images, found {theta.shape}",
        )
        self.check(
            theta.count_from(1) == len(self.free),
            f"needs {len(self.free)} values of θ for each image, found {theta.shape}",
        )
        height = p.output_H if p.HasField("output_H") else x[2]
        width = p.output_W if p.HasField("output_W") else x[3]
        top[0].reshape(*x[:2], height, width)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, top[0].data
        points = self._points(bottom, y.shape)
        found = fetch(pixel_rows(xp, bottom[0].data), points.places, points.weights)
        y[...] = to_images(xp, found, y.shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        xp, gy = self.xp, pixel_rows(self.xp, top[0].diff)
        n, _, h, w = shape = bottom[0].shape
        points = self._points(bottom, top[0].shape)
        if propagate_down[0]:
            gx = bottom[0].diff
            gx[...] = 0
            if self.layer_param.st_param.to_compute_dU:
                rows = spread(xp, gy, points.places, points.weights, n * h * w)
                gx[...] = to_images(xp, rows, shape)
        if propagate_down[1]:
            x, grid = pixel_rows(xp, bottom[0].data), self.grid(top[0].shape)
            slopes = points.down, points.across
            gtheta = xp.empty((n, 2, 3), self.dtype)
            for i, (slope, size) in enumerate(zip(slopes, (h, w), strict=True)):
                along = xp.einsum("pc,pc->p", fetch(x, points.places, slope), gy).reshape(n, -1)
                gtheta[:, i] = xp.matmul(along, grid) * (size / 2)
            free = xp.asarray(np.array(self.free))
            bottom[1].diff[...] = gtheta.reshape(n, 6)[:, free].reshape(bottom[1].shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * top[0].count

    def grid(self, shape: tuple[int, ...]) -> Array:
        """g for every output pixel, (H′·W′, 3)."""
        _, _, height, width = shape
        grid = np.ones((height, width, 3))
        grid[..., 0] = (np.arange(height) / height * 2 - 1)[:, None]
        grid[..., 1] = np.arange(width) / width * 2 - 1
        return self.xp.asarray(grid.reshape(-1, 3), self.dtype)

    def _theta(self, bottom: Views) -> Array:
        given, theta = bottom[1].data, self.xp.empty((bottom[0].shape[0], 6), self.dtype)
        given = given.reshape(len(theta), len(self.free))
        for i, value in enumerate(self.fixed):
            theta[:, i] = given[:, self.free.index(i)] if value is None else value
        return theta.reshape(-1, 2, 3)

    def _points(self, bottom: Views, shape: tuple[int, ...]) -> Points:
        """Where the N·H′·W′ output pixels come from."""
        xp, (n, _, h, w) = self.xp, bottom[0].shape
        at = xp.matmul(self.grid(shape), self._theta(bottom).transpose(0, 2, 1))
        axes = []
        for i, size in enumerate((h, w)):
            position = ((at[:, :, i] + 1) / 2 * size).reshape(-1)
            taps = between(xp, position, size, clamp=False)
            # On a pixel the slope is taken as 0, as the layer has always done, and far outside.
            taps.slopes *= (position != xp.floor(position)) & (position > -1) & (position < size)
            axes.append(taps)
        rows, columns = axes
        return Points(rows, columns, first_pixels(xp, xp.arange(n), h * w, at.shape[1]), w)
