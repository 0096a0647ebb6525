"""Columns and products of them.

Products are made image by image in one call of cuBLAS, which gives images as they are; where
images are small, of many side by side, (C·Πkernel, images, Πout), in one large product.
1 × 1 windows need no columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction, sizes
from pycaffe_dist.engines.cupy.convolution.way import Way
from pycaffe_dist.engines.cupy.paper import Launch
from pycaffe_dist.engines.cupy.precision import FORMATS
from pycaffe_dist.layers.windows import Windows, pieces

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine

WORKSPACE = 256 << 20  # bytes of columns that are made at a time
LARGE = 128  # windows of an image that fill a tile of a product on a GPU


@dataclass(frozen=True)
class Unrolling:
    """im2col and col2im, of two axes or any number of them."""

    engine: CupyEngine
    windows: Windows
    dtype: DType

    def to_columns(self, x: DeviceArray, columns: DeviceArray, steps: tuple[int, int]) -> None:
        """From x, (N, C, *image), to columns; ``steps``: from image to image, from row to row."""
        n = x.shape[0] * x.shape[1] * prod(self.windows.out)
        ending = self.engine.multiply.columns(self.dtype)[1] if columns.dtype != x.dtype else ""
        self._launch(f"im2col{ending}", n, x.shape[1], steps, x, columns)

    def from_columns(self, columns: DeviceArray, x: DeviceArray, steps: tuple[int, int]) -> None:
        """Fill x with the sum, for each pixel, over the windows that see it."""
        self._launch("col2im", x.size, x.shape[1], steps, columns, x)

    def _launch(
        self,
        name: str,
        n: int,
        channels: int,
        steps: tuple[int, int],
        a: DeviceArray,
        b: DeviceArray,
    ) -> None:
        launch, geometry = self.engine.launch, sizes(self.windows)
        axes = len(self.windows.image)
        if axes == 2:
            launch(name, self.dtype, n, channels, *geometry, *steps, a, b)
        else:
            there = self.engine.constants(geometry)
            launch(f"{name}_nd", self.dtype, n, axes, there, channels, *steps, a, b)


class Columns(Way):
    name = "columns"

    def __init__(self, engine: CupyEngine, case: Case) -> None:
        super().__init__(engine, case)
        self.windows, self.group = case.windows, case.group
        self.unrolling = Unrolling(engine, case.windows, case.dtype)
        self.values = case.channels * prod(case.windows.kernel)  # of the columns of a window
        # Whether products of images are large enough each.
        self.one_by_one = case.windows.identity or prod(case.windows.out) >= LARGE

    @classmethod
    def work(cls, case: Case) -> list[Launch]:
        """Each array is a factor of two of the three products, and rounded once for both."""
        image, weights, out = case.nbytes
        taps, identity = case.channels * prod(case.windows.kernel), case.windows.identity
        seen = taps * prod((case.images, *case.windows.out)) * case.dtype.itemsize
        sides = [image if identity else seen, weights, out]
        made = sides.pop(case.direction.makes)
        short = 2 if case.rounds_to and FORMATS[case.rounds_to].cast else 1
        found, gathers = [], case.direction is not Direction.DATA and not identity
        if gathers:
            found.append(Launch("im2col", image + seen / short, 0))
        elif not identity:
            found.append(Launch("col2im", seen + image, seen // case.dtype.itemsize))
        if case.direction is Direction.FILTER:
            moved = out + (image if identity else 0)
            found.append(Launch("sums", 2 * min(moved, case.images * weights), 0))
        if short > 1:
            found += [Launch("casts", 1.5 * nbytes / 2, 0) for nbytes in sides[gathers:]]
        g, nbytes = case.group, made + sum(sides) / short
        product = Launch("GEMM", nbytes / g, case.flops / g, precision=case.rounds_to)
        return found + [product] * g

    def compute(self, image: DeviceArray, weights: DeviceArray, out: DeviceArray) -> None:
        by_group = weights.reshape(self.group, len(weights) // self.group, -1)
        if self.case.direction is Direction.FORWARD:
            self._gather(image, by_group, out)
        elif self.case.direction is Direction.DATA:
            self._spread(image, by_group.swapaxes(1, 2), out)
        else:
            self._add_gradient(image, by_group, out)

    def _gather(self, image: DeviceArray, weights: DeviceArray, out: DeviceArray) -> None:
        for images in self._chunks(len(image)):
            x, y = image[images], out[images]
            if self.one_by_one:
                self._multiply(weights, self._each_seen(x), self._each(y))
                continue
            product = self._side_by_side("product", y, fill=False)
            self._multiply(weights, self._columns_of(x, each=False), self._matrices(product))
            self._back(product, y)

    def _spread(self, image: DeviceArray, weights: DeviceArray, out: DeviceArray) -> None:
        for images in self._chunks(len(image)):
            x, y = image[images], out[images]
            if self.windows.identity:
                self._multiply(weights, self._each(y), self._each(x))
                continue
            columns = self._column_room(x, self.one_by_one, self.case.dtype)
            if self.one_by_one:
                self._multiply(weights, self._each(y), self._each(columns))
            else:
                factor = self._matrices(self._side_by_side("product", y))
                self._multiply(weights, factor, self._matrices(columns))
            self.unrolling.from_columns(columns, x, self._steps(x, self.one_by_one))

    def _add_gradient(self, image: DeviceArray, total: DeviceArray, out: DeviceArray) -> None:
        swapped = out[:1].size + (image[:1].size if self.windows.identity else 0)
        for images in self._chunks(len(image), swapped):
            x, y = image[images], out[images]
            if total.size < swapped:  # a gradient for each image is less than to move the images
                self._add_each(y, x, total)
                continue
            if self.windows.identity:
                columns = self._matrices(self._side_by_side("columns", x))
            else:
                columns = self._columns_of(x, each=False)
            factor = self._matrices(self._side_by_side("product", y))
            self._multiply(factor, columns.swapaxes(1, 2), total, add=True)

    def _add_each(self, y: DeviceArray, x: DeviceArray, total: DeviceArray) -> None:
        """The gradients of images one by one, and their sum."""
        if len(x) == 1:
            self._multiply(self._each(y)[0], self._each_seen(x)[0].swapaxes(1, 2), total, add=True)
            return
        gradients = self.spare("gradients", (len(x), *total.shape))
        self._multiply(self._each(y), self._each_seen(x).swapaxes(2, 3), gradients)
        self.launch("add_parts", total.size, len(x), gradients, total)

    def _multiply(
        self, a: DeviceArray, b: DeviceArray, out: DeviceArray, add: bool = False
    ) -> None:
        """A product for each group: the last but three axes are (…, group, rows, columns)."""
        if self.group > 1:  # round them together, as they lie
            rounded = self.engine.multiply.rounded
            a, b = rounded(a, "left"), rounded(b, "right")
        for g in range(self.group):
            left, right, result = (x[..., g, :, :] for x in (a, b, out))
            self.engine.multiply(left, right, result, add)

    # -- columns -----------------------------------------------------------------------------

    def _chunks(self, count: int, room: int = 0) -> Iterator[slice]:
        """Images whose columns, or other room, fit the work space together."""
        values = room if self.windows.identity else self.values * prod(self.windows.out)
        most = WORKSPACE // (values * self.case.dtype.itemsize) if values else count
        return pieces(count, max(1, most))

    def _column_room(self, x: DeviceArray, each: bool, dtype: DType) -> Any:
        """For columns of images: (images, C·Πkernel, Πout), or side by side."""
        shape = len(x), self.values
        sizes = *(shape if each else shape[::-1]), prod(self.windows.out)
        return self.engine.spare("columns", sizes, dtype)

    def _columns_of(self, x: DeviceArray, each: bool) -> Any:
        """As they are multiplied: rounded as they are made, where there is a kernel for that."""
        plane = len(self.windows.image) == 2
        dtype = self.engine.multiply.columns(self.case.dtype)[0] if plane else self.case.dtype
        columns = self._column_room(x, each, dtype)
        self.unrolling.to_columns(x, columns, self._steps(x, each))
        return self._each(columns) if each else self._matrices(columns)

    def _each_seen(self, x: DeviceArray) -> Any:
        """What windows see of each image: the image itself, or its columns."""
        return self._each(x) if self.windows.identity else self._columns_of(x, each=True)

    def _steps(self, x: DeviceArray, each: bool) -> tuple[int, int]:
        """From image to image and from row to row, of columns one by one or side by side."""
        out = prod(self.windows.out)
        return (self.values * out, out) if each else (out, len(x) * out)

    # -- images one by one, and side by side -------------------------------------------------

    def _each(self, x: DeviceArray) -> Any:
        """(N, C, …) as (N, group, C/group, pixels): a matrix for each image and group."""
        return x.reshape(len(x), self.group, x.shape[1] // self.group, prod(x.shape[2:]))

    def _matrices(self, x: DeviceArray) -> Any:
        """(C, N, pixels) as (group, C/group, N·pixels)."""
        return x.reshape(self.group, len(x) // self.group, x.shape[1] * x.shape[2])

    def _side_by_side(self, name: str, x: DeviceArray, fill: bool = True) -> Any:
        """(N, C, …) as (C, N, pixels): the array itself if it is one image."""
        count, channels, pixels = len(x), x.shape[1], prod(x.shape[2:])
        if count == 1:
            return x.reshape(channels, 1, pixels)
        room = self.spare(name, (channels, count, pixels))
        if fill:
            self.launch("swap_axes", x.size, count, channels, pixels, x, room)
        return room

    def _back(self, room: DeviceArray, x: DeviceArray) -> None:
        """From side by side to one by one."""
        if len(x) > 1:
            channels, count, pixels = room.shape
            self.launch("swap_axes", x.size, channels, count, pixels, room, x)
