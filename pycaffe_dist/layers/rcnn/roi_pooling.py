"""ROIPooling: the largest value in each bin of each region."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rcnn.rois import Bins, RegionLayer, bins, rounded, within
from pycaffe_dist.layers.sampling import add_rows, pixel_rows, to_images


@register("ROIPooling")
class ROIPooling(RegionLayer):
    """y[r, c, i, j] = max x[image of r, c] over bin (i, j) of region r;  ∂x: where the maximum was.

    Features (N, C, H, W), regions (R, 5)  y: (R, C, pooled_h, pooled_w), 0 for an empty bin.
    A region's corners are scaled by ``spatial_scale`` and rounded; with ``pad_ratio`` p it is first
    made wider by p of its size, on every side.  Of equal values the first counts.  Only pixels
    within a region get a gradient from it: none if its corners are swapped, though it has values.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.read_size(self.layer_param.roi_pooling_param)
        self.pad_ratio = self.layer_param.roi_pooling_param.pad_ratio

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape(self.check_regions(bottom), bottom[0].shape[1], *self.size)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x, y = self.xp, bottom[0].data, top[0].data
        images, corners = self.regions(bottom)
        (values,) = rectangle_maxima(xp, x, images, self._bins(corners, x.shape[2:]), False)
        y[...] = xp.moveaxis(values.reshape(len(images), *self.size, x.shape[1]), 3, 1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        """Where the maxima were is looked up again: tests, which are many, do without."""
        self.clear_regions(propagate_down, bottom)
        if not propagate_down[0]:
            return
        xp, x, gx, gy = self.xp, bottom[0].data, bottom[0].diff, top[0].diff
        n, c, h, w = gx.shape
        images, corners = self.regions(bottom)
        _, places = rectangle_maxima(xp, x, images, self._bins(corners, (h, w)), True)
        at = places.astype(np.int64) * c + xp.arange(c)
        values = xp.moveaxis(gy, 1, 3).reshape(places.shape) * self._within(places, corners, (h, w))
        # The last row is for bins that are empty.
        rows = add_rows(xp, at.reshape(-1), values.reshape(-1, 1), (n * h * w + 1) * c)
        gx[...] = to_images(xp, rows.reshape(-1, c)[:-1], gx.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 4 * top[0].count

    def _bins(self, corners: Array, size: tuple[int, int]) -> Bins:
        (x1, x2), (y1, y2) = self._ends(corners)
        across = self._along(x1, x2, self.size[1], size[1])
        return Bins(*self._along(y1, y2, self.size[0], size[0]), *across)

    def _ends(self, corners: Array) -> list[tuple[Array, Array]]:
        """The first and last pixels of every region, across and down."""
        found = []
        for first, last in ((corners[:, 0], corners[:, 2]), (corners[:, 1], corners[:, 3])):
            more = (last - first + 1) * self.pad_ratio
            ends = ((first - more) * self.scale, (last + more) * self.scale)
            found.append((rounded(self.xp, ends[0]), rounded(self.xp, ends[1])))
        return found

    def _within(self, places: Array, corners: Array, size: tuple[int, int]) -> Array:
        """Which places (R·rows·columns, C) are in their regions."""
        bins = self.size[0] * self.size[1]
        by_region = places.reshape(len(corners), bins * places.shape[1])
        where = by_region % size[1], by_region // size[1] % size[0]
        across, down = (
            (at >= first[:, None]) & (at <= last[:, None])
            for at, (first, last) in zip(where, self._ends(corners), strict=True)
        )
        return (across & down).reshape(places.shape)

    def _along(self, first: Array, last: Array, count: int, limit: int) -> tuple[Array, Array]:
        xp = self.xp
        size = xp.maximum(last - first + 1, 1) / self.dtype.type(count)
        # Bins are cut before they are moved to the region, which rounds in another way.
        begin, end = bins(xp, xp.zeros(first.shape, self.dtype), size, count)
        return within(xp, (begin + first[:, None], end + first[:, None]), limit)


def rectangle_maxima(
    xp: ArrayModule, x: Array, images: Array, bins: Bins, places: bool
) -> tuple[Array, ...]:
    """The maxima over rectangles of pixels, (R·rows·columns, C), and if wanted their places.

    A place is n·H·W + h·W + w.  A table for every pair of powers of 2 has the maxima over squares
    2ᵏ × 2ʲ; any rectangle is covered by four of one table.  An empty one has 0, and a place behind
    all pixels.
    """
    n, c, h, w = x.shape
    top, bottom, left, right = bins.spans()
    tall, wide = (xp.maximum(a, 0) for a in (bottom - top, right - left))
    full = (tall > 0) & (wide > 0)
    down, across = _levels(xp, tall, h), _levels(xp, wide, w)
    shape = (len(images), tall.shape[1], wide.shape[2])
    at = [
        (a + xp.zeros(shape, np.int64)).reshape(-1)
        for a in (images.reshape(-1, 1, 1), top, bottom, left, right)
    ]
    rows: tuple[Array, ...] = (pixel_rows(xp, x).reshape(n, h, w, c),)
    out = [xp.zeros((full.size, c), x.dtype)]
    if places:
        numbers = xp.arange(n * h * w, dtype=np.int32).reshape(n, h, w, 1)
        rows = (*rows, numbers + xp.zeros(c, np.int32))
        out.append(xp.zeros((full.size, c), np.int32) + np.int32(n * h * w))
    for k in range(int(down.max()) + 1 if full.size else 0):
        table = rows = _doubled(xp, rows, 1, 1 << (k - 1)) if k else rows
        for j in range(int(across.max()) + 1):
            table = _doubled(xp, table, 2, 1 << (j - 1)) if j else table
            chosen = xp.flatnonzero(full & (down == k) & (across == j))
            if len(chosen):
                found = _four(xp, table, [a[chosen] for a in at], 1 << k, 1 << j)
                for room, values in zip(out, found, strict=True):
                    room[chosen] = values
    return tuple(out)


def _levels(xp: ArrayModule, size: Array, limit: int) -> Array:
    """⌊log₂ size⌋."""
    level = xp.zeros(size.shape, np.int64)
    for k in range(1, limit.bit_length()):
        level += size >= 1 << k
    return level


def _better(xp: ArrayModule, a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, ...]:
    """Of two (values,) or (values, places) the larger value, of equal ones the smaller place."""
    if len(a) == 1:
        return (xp.maximum(a[0], b[0]),)
    second = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
    return xp.where(second, b[0], a[0]), xp.where(second, b[1], a[1])


def _doubled(xp: ArrayModule, table: tuple[Array, ...], axis: int, size: int) -> tuple[Array, ...]:
    """From maxima over ``size`` pixels along an axis those over twice as many."""
    ahead = (slice(None),) * axis
    first = tuple(a[(*ahead, slice(None, -size))] for a in table)
    return _better(xp, first, tuple(a[(*ahead, slice(size, None))] for a in table))


def _four(
    xp: ArrayModule, table: tuple[Array, ...], at: list[Array], tall: int, wide: int
) -> tuple[Array, ...]:
    image, top, bottom, left, right = at
    best: tuple[Array, ...] = ()
    for row in (top, bottom - tall):
        for column in (left, right - wide):
            found = tuple(a[image, row, column] for a in table)
            best = _better(xp, best, found) if best else found
    return best
