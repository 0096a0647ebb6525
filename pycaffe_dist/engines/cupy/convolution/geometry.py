"""What the kernels of convolution.cu are told of a product."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.layers.windows import Windows

VECTOR = 16  # bytes


class Plane(NamedTuple):
    """A number for each of an image's two axes; what has one axis is one line."""

    down: int
    across: int

    @staticmethod
    def of(sizes: Sequence[int], missing: int = 1) -> Plane:
        return Plane(*(missing,) * (2 - len(sizes)), *sizes)


@dataclass(frozen=True)
class Geometry:
    """The struct of that name in convolution.cu."""

    groups: int
    group_channels: int
    channels: int
    image: Plane
    positions: Plane
    step: Plane
    first: Plane
    out_channels: int
    out: Plane
    out_step: Plane
    out_first: Plane
    group_weights: int
    line_weights: int


class Tap(NamedTuple):
    """The struct of that name in convolution.cu."""

    offset: int
    row: int
    column: int
    weight: int


@dataclass(frozen=True)
class Product:
    """Weights (rows, depth) times what windows see, for each group."""

    rows: int
    geometry: Geometry
    taps: tuple[Tap, ...]

    @property
    def depth(self) -> int:
        return len(self.taps)

    def packed(self, dtype: DType) -> bool:
        """Whether the weights of a line follow one another, and can be read by vectors."""
        line = self.geometry.line_weights
        in_order = [tap.weight for tap in self.taps] == list(range(line))
        return in_order and not line * dtype.itemsize % VECTOR

    def columns(self, images: int) -> int:
        return images * prod(self.geometry.positions)

    def table(self) -> Array:
        """Geometry and taps as the kernels read them."""
        numbers: list[int] = []
        for value in astuple(self.geometry):
            numbers += value if isinstance(value, tuple) else [value]
        return np.array([*numbers, *itertools.chain(*self.taps)], np.int32)


def gathered(windows: Windows, channels: int, outputs: int, groups: int) -> Product:
    """Of the image, with a tap for each channel and each place in the kernel."""
    image, out, kernel = (Plane.of(s) for s in (windows.image, windows.out, windows.kernel))
    dilation = Plane.of(windows.dilation)
    of_group, rows = channels // groups, outputs // groups
    depth = of_group * prod(kernel)
    places = itertools.product(range(of_group), range(kernel.down), range(kernel.across))
    taps = []
    for weight, (c, i, j) in enumerate(places):
        row, column = i * dilation.down, j * dilation.across
        taps.append(Tap((c * image.down + row) * image.across + column, row, column, weight))
    pad, stride = Plane.of(windows.pad, 0), Plane.of(windows.stride)
    before = Plane(-pad.down, -pad.across)
    to = outputs, out, Plane(1, 1), Plane(0, 0)
    source = groups, of_group, channels, image
    geometry = Geometry(*source, out, stride, before, *to, rows * depth, depth)
    return Product(rows, geometry, tuple(taps))


def spread(windows: Windows, channels: int, outputs: int, groups: int) -> list[Product]:
    """Of what windows give, to the image: a product for each set of pixels that the same taps see.

    Tap k of window o sees pixel p where o·stride + k·dilation = p + pad: pixels whose p + pad
    leave the same rest by the stride have the same taps, and neighbours among them neighbouring
    windows.
    """
    image, out, kernel = (Plane.of(s) for s in (windows.image, windows.out, windows.kernel))
    stride = Plane.of(windows.stride)
    axes = zip(image, kernel, stride, strict=True)
    pads, dilations = Plane.of(windows.pad, 0), Plane.of(windows.dilation)
    sets = [
        _sets(*axis, pad, dilation)
        for axis, pad, dilation in zip(axes, pads, dilations, strict=True)
    ]
    of_group, rows, area = outputs // groups, channels // groups, prod(kernel)
    found = []
    for down, across in itertools.product(*sets):
        taps = []
        for m, (i, row), (j, column) in itertools.product(range(of_group), down.taps, across.taps):
            weight = m * rows * area + i * kernel.across + j
            taps.append(Tap((m * out.down + row) * out.across + column, row, column, weight))
        positions, first = Plane(down.pixels, across.pixels), Plane(down.first, across.first)
        source = groups, of_group, outputs, out
        to = channels, image, stride, first
        sizes = of_group * rows * area, area
        geometry = Geometry(*source, positions, Plane(1, 1), Plane(0, 0), *to, *sizes)
        found.append(Product(rows, geometry, tuple(taps)))
    return found


class _Set(NamedTuple):
    """Pixels of an axis: the first, how many, and which taps see them of how many windows on."""

    first: int
    pixels: int
    taps: list[tuple[int, int]]


def _sets(size: int, kernel: int, stride: int, pad: int, dilation: int) -> list[_Set]:
    found = []
    for first in range(min(stride, size)):
        steps = [(k, first + pad - k * dilation) for k in range(kernel)]
        taps = [(k, step // stride) for k, step in steps if step % stride == 0]
        found.append(_Set(first, -(-(size - first) // stride), taps))
    return found
