"""Regions of interest: what the layers that look at parts of an image have in common.

A region is a row of five: the number of an image in the batch, then x1, y1, x2, y2 in pixels of
the image that the net was given.  A region's bins are pixels of the features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer
from pycaffe_dist.proto.caffe_pb2 import ROIAlignParameter, ROIPoolingParameter


@dataclass
class Bins:
    """For R regions the pixels [first, end) of each row of bins, (R, rows), and column of them."""

    top: Array
    bottom: Array
    left: Array
    right: Array

    def spans(self) -> tuple[Array, Array, Array, Array]:
        """top, bottom (R, rows, 1) and left, right (R, 1, columns)."""
        top, bottom = (a[:, :, None] for a in (self.top, self.bottom))
        left, right = (a[:, None] for a in (self.left, self.right))
        return top, bottom, left, right


class RegionLayer(Layer):
    """Features (N, C, H, W) and regions (R, 5) in, something for every region out.

    The regions get no gradient.
    """

    bottoms = 2
    label_bottoms = (1,)

    size: tuple[int, int]
    scale: Array

    def read_size(self, p: ROIPoolingParameter | ROIAlignParameter) -> None:
        """pooled_h, pooled_w and spatial_scale."""
        self.size, self.scale = (p.pooled_h, p.pooled_w), self.dtype.type(p.spatial_scale)
        self.check(min(self.size) > 0, f"pooled_h and pooled_w must be above 0, found {self.size}")

    def check_regions(self, bottom: Views) -> int:
        """How many regions there are; what each has is looked at later, as scripts reshape them."""
        x, rois = bottom
        self.check(len(x.shape) == 4, f"needs features (N, C, H, W), found {x.shape}")
        self.check(len(rois.shape) > 1, f"needs regions (R, 5), found {rois.shape}")
        return rois.shape[0]

    def regions(self, bottom: Views) -> tuple[Array, Array]:
        """The image of every region (R,), and its corners (R, 4)."""
        rois: View = bottom[1]
        self.check(
            rois.count_from(1) == 5,
            f"needs regions (R, 5): image, x1, y1, x2, y2; found {rois.shape}",
        )
        rows, images = rois.data.reshape(-1, 5), bottom[0].shape[0]
        fine = (rows[:, 0] > -1) & (rows[:, 0] < images)
        if not fine.all():
            at = int(fine.argmin())
            raise self.error(
                f"region {at} is of image {float(rows[at, 0]):g}; the batch has {images}, "
                "numbered from 0"
            )
        return rows[:, 0].astype(np.int64), rows[:, 1:]

    def clear_regions(self, propagate_down: Flags, bottom: Views) -> None:
        """Regions that come from a layer which learns are asked for a gradient: it is 0."""
        if propagate_down[1]:
            bottom[1].diff[...] = 0


def rounded(xp: ArrayModule, x: Array) -> Array:
    """To the nearest whole number, halves away from 0, as C does it."""
    whole = xp.trunc(x)
    return whole + xp.sign(x) * (abs(x - whole) >= 0.5)


def bins(xp: ArrayModule, start: Array, size: Array, count: int) -> tuple[Array, Array]:
    """The pixels [first, end) of ``count`` equal bins of each region, along an axis: (R, count).

    Bin i reaches from ⌊start + i·size⌋ to ⌈start + (i + 1)·size⌉.
    """
    number = xp.arange(count).astype(size.dtype)
    first = xp.floor(number * size[:, None] + start[:, None])
    end = -xp.floor(-((number + 1) * size[:, None] + start[:, None]))
    return first, end


def within(xp: ArrayModule, ends: tuple[Array, Array], limit: int) -> tuple[Array, Array]:
    """Pixels [first, end) as far as an axis has them, 0 to ``limit``."""
    first, end = (xp.minimum(xp.fmax(p, 0), limit).astype(np.int64) for p in ends)
    return first, end
