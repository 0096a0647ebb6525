"""PSROIPooling: the mean over each bin of each region, of a channel that belongs to the bin."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rcnn.rois import Bins, RegionLayer, bins, rounded, within


@register("PSROIPooling")
class PSROIPooling(RegionLayer):
    """y[r, c, i, j] = mean of x[image of r, (c·g + i)·g + j] over bin (i, j) of region r.

    Features (N, output_dim·g², H, W), regions (R, 5)  y: (R, output_dim, g, g), g = group_size.
    Corners are rounded, then scaled; an empty bin has 0.

    Means come from sums S over all that is above and to the left: of a rectangle it is
    S(bottom, right) − S(top, right) − S(bottom, left) + S(top, left).  The gradient goes the same
    way back: ± ∂y / area at the four corners, then summed up along both axes.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.psroi_pooling_param
        self.scale = self.dtype.type(p.spatial_scale)
        self.group, self.outputs = p.group_size, p.output_dim
        self.check(p.spatial_scale > 0, f"spatial_scale must be above 0, found {p.spatial_scale:g}")
        self.check(
            self.group > 0 and self.outputs > 0,
            f"group_size and output_dim must be above 0, found {self.group} and {self.outputs}",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        count, channels = self.check_regions(bottom), self.outputs * self.group**2
        self.check(
            bottom[0].shape[1] == channels,
            f"needs output_dim · group_size² = {channels} channels, found {bottom[0].shape}",
        )
        top[0].reshape(count, self.outputs, self.group, self.group)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x = self.xp, bottom[0].data
        n, c, h, w = x.shape
        sums = xp.zeros((n, c, h + 1, w + 1), np.float64)
        sums[:, :, 1:, 1:] = xp.cumsum(xp.cumsum(x, 2, np.float64), 3)
        places, share = self._corners(bottom)
        taken = sums.reshape(-1)[places]
        top[0].data[...] = (taken[0] - taken[1] - taken[2] + taken[3]) * share

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.clear_regions(propagate_down, bottom)
        if not propagate_down[0]:
            return
        xp, gx = self.xp, bottom[0].diff
        n, c, h, w = gx.shape
        places, share = self._corners(bottom)
        part = top[0].diff * share
        signs = xp.asarray(np.array([1.0, -1, -1, 1])).reshape(4, 1, 1, 1, 1)
        count = n * c * (h + 1) * (w + 1)
        corners = xp.bincount(places.reshape(-1), (signs * part).reshape(-1), minlength=count)
        # Seen from the far corner: a value there reaches all pixels above and to the left of it.
        reach = corners.reshape(n, c, h + 1, w + 1)[:, :, ::-1, ::-1]
        gx[...] = xp.cumsum(xp.cumsum(reach, 2), 3)[:, :, ::-1, ::-1][:, :, 1:, 1:]

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * bottom[0].count + 4 * top[0].count

    def _corners(self, bottom: Views) -> tuple[Array, Array]:
        """Where S is to be looked at, (4, R, output_dim, g, g), and 1 / area (R, 1, g, g)."""
        xp, (_, channels, h, w), g = self.xp, bottom[0].shape, self.group
        images, corners = self.regions(bottom)
        top, low, left, right = self._bins(corners, (h, w)).spans()
        area = (low - top) * (right - left) * (low > top) * (right > left)
        channel = xp.arange(channels).reshape(1, self.outputs, g, g)
        planes = (images.reshape(-1, 1, 1, 1) * channels + channel) * (h + 1)
        places = xp.empty((4, *planes.shape[:1], self.outputs, g, g), np.int64)
        ends = [(low, right), (top, right), (low, left), (top, left)]
        for room, (row, column) in zip(places, ends, strict=True):
            room[...] = (planes + row[:, None]) * (w + 1) + column[:, None]
        share = xp.where(area > 0, 1 / xp.maximum(area, 1), 0)[:, None]
        return places, share

    def _bins(self, corners: Array, size: tuple[int, int]) -> Bins:
        x1, y1, x2, y2 = rounded(self.xp, corners).T
        across = self._along(x1, x2, size[1])
        return Bins(*self._along(y1, y2, size[0]), *across)

    def _along(self, first: Array, last: Array, limit: int) -> tuple[Array, Array]:
        start = first * self.scale
        size = self.xp.maximum((last + 1) * self.scale - start, self.dtype.type(0.1))
        ends = bins(self.xp, start, size / self.dtype.type(self.group), self.group)
        return within(self.xp, ends, limit)
