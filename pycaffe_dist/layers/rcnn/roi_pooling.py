"""ROIPooling: the largest value in each bin of each region."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rcnn.rois import Bins, RegionLayer, bins, rounded, within
from pycaffe_dist.layers.sampling import add_rows, to_images
from pycaffe_dist.layers.work import Working


@register("ROIPooling")
class ROIPooling(RegionLayer, Working):
    """y[r, c, i, j] = max x[image of r, c] over bin (i, j) of region r;  ∂x: where the maximum was.

    Features (N, C, H, W), regions (R, 5)  y: (R, C, pooled_h, pooled_w), 0 for an empty bin.
    A region's corners are scaled by ``spatial_scale`` and rounded; with ``pad_ratio`` p it is first
    made wider by p of its size, on every side.  Of equal values the first counts.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.roi_pooling_param
        self.size = p.pooled_h, p.pooled_w
        self.scale, self.pad_ratio = self.dtype.type(p.spatial_scale), p.pad_ratio
        self.check(min(self.size) > 0, f"pooled_h and pooled_w must be above 0, found {self.size}")

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape(self.check_regions(bottom), bottom[0].shape[1], *self.size)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x, y = self.xp, bottom[0].data, top[0].data
        images, corners = self.regions(bottom)
        values, places = rectangle_maxima(xp, x, images, self._bins(corners, x.shape[2:]))
        shape = (len(images), *self.size, x.shape[1])
        y[...] = xp.moveaxis(values.reshape(shape), 3, 1)
        self.work("places", values.shape, np.int64)[...] = places

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.clear_regions(propagate_down, bottom)
        if not propagate_down[0]:
            return
        xp, gx, gy = self.xp, bottom[0].diff, top[0].diff
        n, c, h, w = gx.shape
        places = self.work("places", (gy.size // c, c), np.int64) * c + xp.arange(c)
        # The last row is for bins that are empty.
        values = xp.moveaxis(gy, 1, 3).reshape(-1, 1)
        rows = add_rows(xp, places.reshape(-1), values, (n * h * w + 1) * c)
        gx[...] = to_images(xp, rows.reshape(-1, c)[:-1], gx.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 4 * top[0].count

    def _bins(self, corners: Any, size: tuple[int, int]) -> Bins:
        x1, y1, x2, y2 = corners.T
        wide, high = (x2 - x1 + 1) * self.pad_ratio, (y2 - y1 + 1) * self.pad_ratio
        across = self._along(x1 - wide, x2 + wide, self.size[1], size[1])
        return Bins(*self._along(y1 - high, y2 + high, self.size[0], size[0]), *across)

    def _along(self, first: Any, last: Any, count: int, limit: int) -> tuple[Any, Any]:
        xp = self.xp
        first, last = (rounded(xp, p * self.scale) for p in (first, last))
        size = xp.maximum(last - first + 1, 1) / self.dtype.type(count)
        # Bins are cut before they are moved to the region, which rounds in another way.
        begin, end = bins(xp, xp.zeros(first.shape, self.dtype), size, count)
        return within(xp, (begin + first[:, None], end + first[:, None]), limit)


def rectangle_maxima(xp: Any, x: Any, images: Any, bins: Bins) -> tuple[Any, Any]:
    """The maxima over rectangles of pixels, (R·rows·columns, C), and their pixels n·H·W + h·W + w.

    A table for every pair of powers of 2 has the maxima over squares 2ᵏ × 2ʲ; any rectangle is
    covered by four of one table.  An empty one has 0, and a place behind all pixels.
    """
    n, c, h, w = x.shape
    top, bottom, left, right = bins.spans()
    tall, wide = (xp.maximum(a, 0) for a in (bottom - top, right - left))
    shape = (len(images), tall.shape[1], wide.shape[2])
    level_down, level_across = _levels(xp, tall, h), _levels(xp, wide, w)
    full = (tall > 0) & (wide > 0)
    values = xp.zeros((full.size, c), x.dtype)
    places = xp.zeros((full.size, c), np.int64)
    places[...] = n * h * w
    spread = [
        (a + xp.zeros(shape, np.int64)).reshape(-1)
        for a in (images.reshape(-1, 1, 1), top, bottom, left, right)
    ]
    rows = xp.moveaxis(x, 1, 3), xp.arange(n * h * w).reshape(n, h, w, 1) + xp.zeros(c, np.int64)
    for k in range(h.bit_length()):
        table = rows
        for j in range(w.bit_length()):
            chosen = xp.flatnonzero(full & (level_down == k) & (level_across == j))
            if len(chosen):
                found = _four(xp, table, [a[chosen] for a in spread], 1 << k, 1 << j)
                values[chosen], places[chosen] = found
            table = _doubled(xp, table, 2, 1 << j)
            if table is None:
                break
        rows = _doubled(xp, rows, 1, 1 << k)
        if rows is None:
            break
    return values, places


def _levels(xp: Any, size: Any, limit: int) -> Any:
    """⌊log₂ size⌋."""
    level = xp.zeros(size.shape, np.int64)
    for k in range(1, limit.bit_length()):
        level += size >= 1 << k
    return level


def _better(xp: Any, a: Any, b: Any) -> Any:
    """Of two (values, places) the larger value, or of equal ones the smaller place."""
    second = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
    return xp.where(second, b[0], a[0]), xp.where(second, b[1], a[1])


def _doubled(xp: Any, table: Any, axis: int, size: int) -> Any:
    """From maxima over ``size`` pixels along an axis those over twice as many, if so many fit."""
    if table[0].shape[axis] <= size:
        return None
    ahead = (slice(None),) * axis
    first = [a[(*ahead, slice(None, -size))] for a in table]
    return _better(xp, first, [a[(*ahead, slice(size, None))] for a in table])


def _four(xp: Any, table: Any, at: list[Any], tall: int, wide: int) -> Any:
    image, top, bottom, left, right = at
    best = None
    for row in (top, bottom - tall):
        for column in (left, right - wide):
            found = [a[image, row, column] for a in table]
            best = _better(xp, best, found) if best is not None else found
    return best
