"""ROIAlign, twice: MS-CNN's and Cascade R-CNN's, and that of a Mask R-CNN for Caffe."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rcnn.rois import RegionLayer
from pycaffe_dist.layers.sampling import (
    Points,
    between,
    fetch,
    first_pixels,
    pixel_rows,
    spread,
    to_images,
)
from pycaffe_dist.layers.work import Working


@register("ROIAlign", dialect="mscnn")
class GridROIAlign(RegionLayer):
    """y[r, c, i, j] = x at the point (i, j) of a grid laid over region r, between its pixels.

    Features (N, C, H, W), regions (R, 5)  y: (R, C, pooled_h + 1, pooled_w + 1), ends included:
    a Pooling with a kernel of 2 behind it makes bins of the points.  Corners are scaled and moved
    by half a pixel; 0 outside of the image, and for a region without area.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.read_size(self.layer_param.roi_pooling_param)
        self.pad_ratio = self.layer_param.roi_pooling_param.pad_ratio

    def reshape(self, bottom: Views, top: Views) -> None:
        rows, columns = self.size
        top[0].reshape(self.check_regions(bottom), bottom[0].shape[1], rows + 1, columns + 1)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, top[0].data
        places, weights = self._taps(bottom)
        found = fetch(pixel_rows(xp, bottom[0].data), places, weights)
        y[...] = to_images(xp, found, y.shape)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.clear_regions(propagate_down, bottom)
        if not propagate_down[0]:
            return
        xp, gx = self.xp, bottom[0].diff
        places, weights = self._taps(bottom)
        rows = spread(xp, pixel_rows(xp, top[0].diff), places, weights, gx.size // gx.shape[1])
        gx[...] = to_images(xp, rows, gx.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * top[0].count

    def _taps(self, bottom: Views) -> tuple[Array, Array]:
        """Four pixels, places in (N·H·W,), and weights for every point: (4, R·rows·columns)."""
        xp, (_, _, h, w) = self.xp, bottom[0].shape
        images, sides = self.regions(bottom)
        x1, y1, x2, y2 = sides.T
        wide, high = (x2 - x1 + 1) * self.pad_ratio, (y2 - y1 + 1) * self.pad_ratio
        rows, row_counts = self._along(y1 - high, y2 + high, self.size[0], h)
        columns, column_counts = self._along(x1 - wide, x2 + wide, self.size[1], w)
        shape = (len(images), rows.shape[1], columns.shape[1])
        grid = [xp.zeros(shape, self.dtype) for _ in range(2)]
        grid[0] += rows[:, :, None]
        grid[1] += columns[:, None]
        inside = (row_counts[:, :, None] & column_counts[:, None]).reshape(-1)
        down, across = (
            between(xp, at.reshape(-1), n, clamp=True) for at, n in zip(grid, (h, w), strict=True)
        )
        first = first_pixels(xp, images, h * w, shape[1] * shape[2])
        points = Points(down, across, first, w)
        return points.places, points.weights * inside

    def _along(self, first: Array, last: Array, count: int, limit: int) -> tuple[Array, Array]:
        """Positions of the grid along an axis, (R, count + 1), and whether they count."""
        half = self.dtype.type(0.5)
        start, end = first * self.scale - half, last * self.scale - half
        step = (end - start) / self.dtype.type(count)
        at = start[:, None] + self.xp.arange(count + 1).astype(self.dtype) * step[:, None]
        return at, (at >= -0.5) & (at <= limit - 0.5) & (end > start)[:, None]


@register(
    "ROIAlign",
    dialect="single",
    when=lambda param: param.HasField("roi_align_param"),
    why="it has a roi_align_param",
)
class MaskROIAlign(RegionLayer, Working):
    """y[r, c, i, j] = the largest of four weighted sums over pixels of bin (i, j) of region r.

    Features (N, C, H, W), regions (R, 5)  y: (R, C, pooled_h, pooled_w), 0 for an empty bin.

    A sum is over the first four pixels of the bin, with the weights t(u − x)·t(v − y) for one of
    the points (u, v) = (±½, ±½) and a pixel's place (x, y) in the region, which reaches from −1 to
    1; t(d) = max(0, 1 − |d|).  This is what the layer computes, and not what the paper describes.
    ∂x: the largest sum's weights; pixels of the last bins that lie beyond the region get none.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.read_size(self.layer_param.roi_align_param)

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape(self.check_regions(bottom), bottom[0].shape[1], *self.size)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, top[0].data
        places, weights, _ = self._taps(bottom)
        rows = pixel_rows(xp, bottom[0].data)
        sums = [fetch(rows, places, weight) for weight in weights]
        best, which = sums[0], xp.zeros(sums[0].shape, np.int64)
        for number, other in enumerate(sums[1:], 1):
            which = xp.where(other > best, number, which)
            best = xp.maximum(best, other)
        y[...] = to_images(xp, best, y.shape)
        self.work("which", which.shape, np.int64)[...] = which

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.clear_regions(propagate_down, bottom)
        if not propagate_down[0]:
            return
        xp, gx = self.xp, bottom[0].diff
        places, weights, reached = self._taps(bottom)
        values = pixel_rows(xp, top[0].diff)
        which = self.work("which", values.shape, np.int64)
        chosen = sum(
            (which == number) * (weight * reached)[:, :, None]
            for number, weight in enumerate(weights)
        )
        rows = spread(xp, values, places, chosen, gx.size // gx.shape[1])
        gx[...] = to_images(xp, rows, gx.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 32 * top[0].count

    def _taps(self, bottom: Views) -> tuple[Array, list[Array], Array]:
        """Places (4 pixels, P bins), weights for each of four points, and what ∂x reaches."""
        xp, (_, _, h, w) = self.xp, bottom[0].shape
        images, sides = self.regions(bottom)
        x1, y1, x2, y2 = (sides * self.scale).T
        top, tall = self._along(y1, y2, self.size[0], h)
        left, wide = self._along(x1, x2, self.size[1], w)
        shape = (len(images), *self.size)
        zero = xp.zeros(shape, np.int64)
        top, left = top[:, :, None] + zero, left[:, None] + zero
        wide, pixels = wide[:, None] + zero, tall[:, :, None] * wide[:, None]
        number = xp.arange(4).reshape(4, 1, 1, 1)
        row, column = number // xp.maximum(wide, 1) + top, number % xp.maximum(wide, 1) + left
        counts = number < pixels
        row, column = row * counts, column * counts
        spread_out = [a.reshape(-1, 1, 1) for a in (x1, y1, x2, y2)]
        x1, y1, x2, y2 = spread_out
        across, down = _in_region(xp, column, x1, x2), _in_region(xp, row, y1, y2)
        points = [(u, v) for u in (-0.5, 0.5) for v in (-0.5, 0.5)]
        weights = [_tent(xp, across - u) * _tent(xp, down - v) * counts for u, v in points]
        reached = (column >= x1) & (column <= x2) & (row >= y1) & (row <= y2)
        places = images.reshape(-1, 1, 1) * (h * w) + row * w + column
        flat = [a.reshape(4, -1).astype(self.dtype) for a in weights]
        return places.reshape(4, -1), flat, reached.reshape(4, -1)

    def _along(self, first: Array, last: Array, count: int, limit: int) -> tuple[Array, Array]:
        """The first pixel of each bin along an axis, and how many it has: (R, count)."""
        xp = self.xp
        size = xp.maximum(last - first + 1, 1) / self.dtype.type(count)
        number = xp.arange(count).astype(self.dtype)
        ends = [number * size[:, None], (number + 1) * size[:, None]]
        start, end = (xp.minimum(xp.maximum(e + first[:, None], 0), limit) for e in ends)
        low = -xp.floor(-start)
        high = xp.minimum(xp.floor(end), limit - 1)
        pixels = xp.maximum(high - low + 1, 0) * (end > start)
        return low.astype(np.int64), pixels.astype(np.int64)


def _in_region(xp: ArrayModule, at: Array, first: Array, last: Array) -> Array:
    """Pixels of a region counted from −1 to 1; those beyond are at its ends."""
    size = xp.where(last > first, last - first, 1)
    return xp.minimum(xp.maximum(2 * (at - first) / size - 1, -1), 1)


def _tent(xp: ArrayModule, distance: Array) -> Array:
    return xp.maximum(1 - abs(distance), 0)
