"""Layers that look at regions of an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.layers.rcnn.psroi_pooling import PSROIPooling
from pycaffe_dist.layers.rcnn.roi_align import GridROIAlign, MaskROIAlign
from pycaffe_dist.layers.rcnn.roi_pooling import ROIPooling
from pycaffe_dist.onnx.exporters import exports
from pycaffe_dist.onnx.graph import Graph, Value

Values = Sequence[Value]


@dataclass
class Regions:
    """Columns (R, 1) of the regions: the image as an int64, and the corners."""

    image: str
    x1: str
    y1: str
    x2: str
    y2: str

    @classmethod
    def of(cls, g: Graph, rois: str, pad: float = 0.0) -> Regions:
        image, *corners = g.split(g.reshape(rois, [-1, 5]), [1] * 5, 1)
        if pad:
            x1, y1, x2, y2 = corners
            wide, high = (
                g.scaled(g.shifted(g.op("Sub", b, a), 1.0), pad) for a, b in ((x1, x2), (y1, y2))
            )
            corners = [g.op("Sub", x1, wide), g.op("Sub", y1, high)]
            corners += [g.op("Add", x2, wide), g.op("Add", y2, high)]
        return cls(g.to_int(image), *corners)

    def joined(self, g: Graph) -> str:
        """(R, 5) again."""
        return g.op("Concat", g.to_float(self.image), self.x1, self.y1, self.x2, self.y2, axis=1)


@exports(ROIPooling)
def roi_pooling(g: Graph, layer: ROIPooling, x: Values) -> str:
    layer.check(
        math.prod(x[1].shape) % 5 == 0,
        f"needs regions of 5 numbers, the net gives it {x[1].shape}: change the shape of its input",
    )
    rois = g.reshape(x[1], [-1, 5])
    if layer.pad_ratio:
        rois = Regions.of(g, x[1], layer.pad_ratio).joined(g)
    return g.op(
        "MaxRoiPool", x[0], rois, pooled_shape=list(layer.size), spatial_scale=float(layer.scale)
    )


def _rounded(g: Graph, x: str) -> str:
    """Halves away from 0, as C does it."""
    return g.op("Mul", g.op("Sign", x), g.op("Floor", g.shifted(g.op("Abs", x), 0.5)))


# -- PSROIPooling ---------------------------------------------------------------------------------


@exports(PSROIPooling)
def psroi_pooling(g: Graph, layer: PSROIPooling, x: Values) -> str:
    """By sums over all that is above and to the left, as the layer itself does it."""
    _, channels, h, w = x[0].shape
    sums = g.op("CumSum", g.op("CumSum", g.cast(x[0], 11), g.ints_scalar(2)), g.ints_scalar(3))
    sums = g.op("Pad", sums, g.ints(0, 0, 1, 1, 0, 0, 0, 0), g.constant(0.0, np.float64))
    flat = g.reshape(sums, [-1])
    r = Regions.of(g, x[1])
    top, low = _bins(g, layer, r.y1, r.y2, h)
    left, right = _bins(g, layer, r.x1, r.x2, w)
    k, outputs = layer.group, layer.outputs
    top, low = (g.reshape(v, [-1, 1, k, 1]) for v in (top, low))
    left, right = (g.reshape(v, [-1, 1, 1, k]) for v in (left, right))
    tall, wide = g.op("Sub", low, top), g.op("Sub", right, left)
    zero = g.constant(0.0)
    area = g.op("Mul", g.op("Max", tall, zero), g.op("Max", wide, zero))
    channel = np.arange(channels).reshape(1, outputs, k, k)
    planes = g.op(
        "Add",
        g.op("Mul", g.reshape(r.image, [-1, 1, 1, 1]), g.ints(channels)),
        g.constant(channel, np.int64),
    )
    planes = g.op("Mul", planes, g.ints(h + 1))

    def at(row: str, column: str) -> str:
        place = g.op("Mul", g.op("Add", planes, g.to_int(row)), g.ints(w + 1))
        return g.op("Gather", flat, g.op("Add", place, g.to_int(column)), axis=0)

    total = g.op("Sub", at(low, right), at(top, right))
    total = g.op("Add", g.op("Sub", total, at(low, left)), at(top, left))
    share = g.op("Where", g.op("Greater", area, zero), area, g.constant(1.0))
    mean = g.op("Div", g.to_float(total), share)
    return g.op("Where", g.op("Greater", area, zero), mean, zero)


def _bins(g: Graph, layer: PSROIPooling, first: str, last: str, limit: int) -> tuple[str, str]:
    """(R, group): the pixels [first, end) of each bin along an axis."""
    start = g.scaled(_rounded(g, first), layer.scale)
    end = g.scaled(g.shifted(_rounded(g, last), 1.0), layer.scale)
    step = g.scaled(g.clip(g.op("Sub", end, start), low=0.1), np.float32(1) / layer.group)
    number = np.arange(layer.group, dtype=np.float32)
    ends = [
        g.op("Add", g.op("Mul", step, g.constant(n[None])), start) for n in (number, number + 1)
    ]
    low, high = g.op("Floor", ends[0]), g.op("Ceil", ends[1])
    return g.clip(low, 0, limit), g.clip(high, 0, limit)


# -- ROIAlign -------------------------------------------------------------------------------------


@exports(GridROIAlign)
def grid_roi_align(g: Graph, layer: GridROIAlign, x: Values) -> str:
    h, w = x[0].shape[2:]
    r = Regions.of(g, x[1], layer.pad_ratio)
    rows, row_counts = _grid(g, layer, r.y1, r.y2, layer.size[0], h)
    columns, column_counts = _grid(g, layer, r.x1, r.x2, layer.size[1], w)
    down, across = (
        [g.op("Unsqueeze", v, g.ints(2)) for v in (rows, row_counts)],
        [g.op("Unsqueeze", v, g.ints(1)) for v in (columns, column_counts)],
    )
    inside = g.to_float(g.op("And", down[1], across[1]))
    image = g.op("Unsqueeze", r.image, g.ints(2))
    found = sample(g, x[0], image, down[0], across[0])
    return g.op("Mul", found, g.op("Unsqueeze", inside, g.ints(1)))


def _grid(
    g: Graph, layer: GridROIAlign, first: str, last: str, count: int, limit: int
) -> tuple[str, str]:
    """Positions (R, count + 1) of the grid along an axis, and whether they count."""
    start, end = (g.shifted(g.scaled(v, layer.scale), -0.5) for v in (first, last))
    step = g.scaled(g.op("Sub", end, start), 1 / layer.dtype.type(count))
    number = np.arange(count + 1, dtype=np.float32)[None]
    at = g.op("Add", g.op("Mul", step, g.constant(number)), start)
    within = g.op(
        "And",
        g.op("GreaterOrEqual", at, g.constant(-0.5)),
        g.op("LessOrEqual", at, g.constant(limit - 0.5)),
    )
    return at, g.op("And", within, g.op("Greater", end, start))


@exports(MaskROIAlign)
def mask_roi_align(g: Graph, layer: MaskROIAlign, x: Values) -> str:
    """The largest of four weighted sums over the first four pixels of each bin."""
    _, channels, h, w = x[0].shape
    r = Regions.of(g, x[1])
    x1, y1, x2, y2 = (g.scaled(v, layer.scale) for v in (r.x1, r.y1, r.x2, r.y2))
    top, tall = _first_pixels(g, y1, y2, layer.size[0], h)
    left, wide = _first_pixels(g, x1, x2, layer.size[1], w)
    top, tall = (g.op("Unsqueeze", v, g.ints(2)) for v in (top, tall))
    left, wide = (g.op("Unsqueeze", v, g.ints(1)) for v in (left, wide))
    ends = [g.op("Unsqueeze", v, g.ints(2)) for v in (x1, x2, y1, y2)]
    first = g.op("Mul", g.op("Unsqueeze", r.image, g.ints(2)), g.ints(h * w))
    pixels = g.reshape(g.op("Transpose", x[0], perm=[0, 2, 3, 1]), [-1, channels])
    sums = [""] * 4
    for number in range(4):
        counts = g.op("Less", g.constant(float(number)), g.op("Mul", tall, wide))
        counts = g.to_float(counts)
        divisor = g.clip(wide, low=1.0)
        down = g.op("Floor", g.op("Div", g.constant(float(number)), divisor))
        along = g.op("Sub", g.constant(float(number)), g.op("Mul", down, divisor))
        row = g.op("Mul", g.op("Add", down, top), counts)
        column = g.op("Mul", g.op("Add", along, left), counts)
        place = g.op("Add", g.op("Mul", g.to_int(row), g.ints(w)), g.to_int(column))
        found = g.op("Gather", pixels, g.op("Add", place, first), axis=0)
        u, v = _in_region(g, column, *ends[:2]), _in_region(g, row, *ends[2:])
        for i, (du, dv) in enumerate((a, b) for a in (-0.5, 0.5) for b in (-0.5, 0.5)):
            share = g.op("Mul", _tent(g, g.shifted(u, -du)), _tent(g, g.shifted(v, -dv)))
            share = g.op("Unsqueeze", g.op("Mul", share, counts), g.ints(3))
            part = g.op("Mul", found, share)
            sums[i] = g.op("Add", sums[i], part) if sums[i] else part
    return g.op("Transpose", g.op("Max", *sums), perm=[0, 3, 1, 2])


def _first_pixels(g: Graph, first: str, last: str, count: int, limit: int) -> tuple[str, str]:
    """The first pixel of each bin along an axis, and how many it has: (R, count)."""
    size = g.scaled(g.clip(g.shifted(g.op("Sub", last, first), 1.0), low=1.0), 1 / count)
    number = np.arange(count, dtype=np.float32)[None]
    start, end = (
        g.clip(g.op("Add", g.op("Mul", size, g.constant(n)), first), 0, limit)
        for n in (number, number + 1)
    )
    low = g.op("Ceil", start)
    high = g.clip(g.op("Floor", end), high=limit - 1)
    count_ = g.clip(g.shifted(g.op("Sub", high, low), 1.0), low=0.0)
    return low, g.op("Mul", count_, g.to_float(g.op("Greater", end, start)))


def _in_region(g: Graph, at: str, first: str, last: str) -> str:
    """Pixels of a region counted from −1 to 1; those beyond are at its ends."""
    size = g.op("Sub", last, first)
    size = g.op("Where", g.op("Greater", size, g.constant(0.0)), size, g.constant(1.0))
    place = g.op("Div", g.scaled(g.op("Sub", at, first), 2.0), size)
    return g.clip(g.shifted(place, -1.0), -1.0, 1.0)


def _tent(g: Graph, distance: str) -> str:
    return g.op("Relu", g.op("Sub", g.constant(1.0), g.op("Abs", distance)))


def sample(g: Graph, x: Value, image: str, rows: str, columns: str) -> str:
    """x between its pixels, clamped to its edges: (R, C, rows, columns).

    Positions (R, rows, 1) and (R, 1, columns) of images (R, 1, 1), or (R, rows, columns) of all.
    """
    _, channels, h, w = x.shape
    pixels = g.reshape(g.op("Transpose", x, perm=[0, 2, 3, 1]), [-1, channels])
    first = g.op("Mul", image, g.ints(h * w))
    total = ""
    for row, row_share in _between(g, rows, h):
        for column, column_share in _between(g, columns, w):
            place = g.op("Add", g.op("Mul", row, g.ints(w)), column)
            found = g.op("Gather", pixels, g.op("Add", place, first), axis=0)
            share = g.op("Unsqueeze", g.op("Mul", row_share, column_share), g.ints(3))
            part = g.op("Mul", found, share)
            total = g.op("Add", total, part) if total else part
    return g.op("Transpose", total, perm=[0, 3, 1, 2])


def _between(g: Graph, at: str, size: int) -> list[tuple[str, str]]:
    """The two pixels a position lies between, as places and shares."""
    at = g.clip(at, 0, size - 1)
    low = g.op("Floor", at)
    fraction = g.op("Sub", at, low)
    next_one = g.clip(g.shifted(low, 1.0), 0, size - 1)
    rest = g.op("Sub", g.constant(1.0), fraction)
    return [(g.to_int(low), rest), (g.to_int(next_one), fraction)]
