"""Winograd's transforms as kernels: between a blob blocked by channels and planes of tiles.

A blob (N, C, H, W) is covered with square tiles, all of whose channels follow one another.  Planes
are (places, tiles, C): plane p has the p-th value of every transformed tile, so that products with
the p-th value of every kernel are one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from pycaffe_dist.engines.onednn.core.jit import (
    CHAR,
    FLOAT,
    FLOAT_BYTES,
    STATUS,
    Code,
    Kernel,
    address,
)
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, runtime
from pycaffe_dist.memory import Array

WIDTH = 16  # floats of a vector, or half of that where blocks are smaller


class Square:
    """T d Tᵀ of square tiles d, where T is a product of sparse matrices."""

    def __init__(self, *factors: Array) -> None:
        self.factors = factors
        self.sides = factors[-1].shape[1], factors[0].shape[0]  # from, to

    @cached_property
    def transposed(self) -> Square:
        return Square(*(np.ascontiguousarray(f.T) for f in reversed(self.factors)))

    @cached_property
    def flipped(self) -> Square:
        """Of tiles turned round."""
        *rest, last = self.factors
        return Square(*rest, last[:, ::-1])

    def write(self, code: Code, tile: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The code for one tile of vectors: first along the columns, then along the rows."""
        columns = [self._side(code, column) for column in zip(*tile, strict=True)]
        return [self._side(code, row) for row in zip(*columns, strict=True)]

    def _side(self, code: Code, values: Sequence[Any]) -> list[Any]:
        for factor in reversed(self.factors):
            values = [code.weighted(row, values) for row in factor]
        return list(values)


@dataclass(frozen=True)
class Grid:
    """How tiles lie on a blob.

    Args:
        layout: of the blob, blocked by channels.
        group: channels are taken group by group.
        shape: rows and columns of tiles.
        step: from one tile to the next.
        pad: how far the first tile begins outside.
    """

    layout: Layout
    group: int
    shape: tuple[int, int]
    step: int
    pad: Dims

    @property
    def channels(self) -> int:
        return self.layout.dims[1] // self.group

    @cached_property
    def width(self) -> int:
        """Of vectors."""
        block = block_of(self.layout)
        width = WIDTH if block % WIDTH == 0 else WIDTH // 2
        if block % width or self.channels % block:
            raise OneDnnError("Winograd's channels are not whole blocks")
        return width

    @cached_property
    def arguments(self) -> list[int]:
        """What kernels are told of it, after where the blob begins."""
        _, c, h, w = self.layout.dims
        block = block_of(self.layout)
        sizes = [*self.shape, h, w, *self.pad, self.channels, block]
        return [*sizes, *(FLOAT_BYTES * s for s in (c * h * w, h * w * block, block * w, block))]

    def start(self, blob: Array, group: int) -> int:
        """The address of a group's first value."""
        _, _, h, w = self.layout.dims
        return address(blob) + FLOAT_BYTES * group * self.channels * h * w


def block_of(layout: Layout) -> int:
    """The channels that lie side by side in a layout blocked by nothing else."""
    dims, strides, blocks = layout.key
    _, c, h, w = dims
    if not blocks and strides == (c * h * w, 1, w * c, c):
        return int(c)  # all of them
    b = int(blocks[0][0]) if len(blocks) == 1 and blocks[0][1] == 1 else 0
    if not b or c % b or strides != (c * h * w, h * w * b, w * b, b):
        raise OneDnnError("Winograd's blobs are not blocked by channels, or have gaps")
    return b


class _Walk:
    """The code that goes from tile to tile and, within one, from vector to vector of channels.

    A tile that reaches over the edge of its image is worked on in a room of its own.
    """

    ARGUMENTS = 16  # blob, first tile, tiles, those of a grid, and planes

    def __init__(self, code: Code, side: int, step: int) -> None:
        self.code, self.side, self.step = code, side, step
        self.blob, self.first, self.tiles, *grid, self.planes = code.arguments[: self.ARGUMENTS]
        self.rows, self.columns, self.height, self.width, *rest = grid
        self.pad, self.channels, self.block = rest[:2], rest[2], rest[3]
        self.image, self.plane, self.row, self.column = rest[4:]
        self.blocks, _ = code.divided(self.channels, self.block)
        self.room = code.room(side * side)
        self.vector = code.vector.count * FLOAT_BYTES

    def place(self, tile: Any) -> None:
        """Find where a tile lies."""
        code = self.code
        at, x = code.divided(code.add(self.first, tile), self.columns)
        n, y = code.divided(at, self.rows)
        top, left = (
            code.sub(code.mul(i, self.step), p) for i, p in zip((y, x), self.pad, strict=True)
        )
        self.start = code.add(
            self.blob, code.mul(n, self.image), code.mul(top, self.row), code.mul(left, self.column)
        )
        ends = (self.height, top), (self.width, left)
        self.begins = [code.most(0, code.sub(0, first)) for _, first in ends]
        self.ends = [code.least(self.side, code.sub(size, first)) for size, first in ends]
        whole = [(begin, "==", 0) for begin in self.begins]
        whole += [(end, "==", self.side) for end in self.ends]
        self.whole = code.all(*whole)
        self.cut = code.build.not_(self.whole)

    def pixels(self, address: Any) -> tuple[Any, Any, Any]:
        """Where the first pixel is, and how far it is to the next row and column."""
        code = self.code
        choices = (
            (address, self.room),
            (self.row, self.vector * self.side),
            (self.column, self.vector),
        )
        first, row, column = (code.choose(self.whole, a, b) for a, b in choices)
        return first, row, column

    @contextmanager
    def vectors(self) -> Iterator[tuple[Any, Any]]:
        """Each vector's first channel, and the address of its first pixel in the tile."""
        code = self.code
        with code.loop(0, self.blocks) as block:
            there = code.add(self.start, code.mul(block, self.plane))
            first = code.mul(block, self.block)
            with code.loop(0, self.block, code.vector.count) as lane:
                yield code.add(first, lane), code.add(there, code.mul(lane, FLOAT_BYTES))

    def copy(self, address: Any, out: bool) -> None:
        """Copy what lies inside the image from the blob to the room, or out of it."""
        code = self.code
        rows, columns = zip(self.begins, self.ends, strict=True)
        with code.loop(*rows) as y, code.loop(*columns) as x:
            there = code.add(address, code.mul(y, self.row), code.mul(x, self.column))
            place = code.add(code.mul(y, self.side), x)
            here = code.add(self.room, code.mul(place, self.vector))
            source, target = (here, there) if out else (there, here)
            code.store(code.load(source), target)

    def clear(self) -> None:
        with self.code.loop(0, self.side * self.side) as i:
            place = self.code.add(self.room, self.code.mul(i, self.vector))
            self.code.store(self.code.constant(0.0), place)


def _square(code: Code, side: int, first: Any, row: Any, column: Any) -> list[list[Any]]:
    """The addresses of a square."""
    return [
        [code.add(first, code.mul(row, y), code.mul(column, x)) for x in range(side)]
        for y in range(side)
    ]


@cache
def _cutting(square: Square, step: int, width: int, sums: bool) -> Kernel:
    """Tiles of a blob, transformed, to planes; if asked, each channel's sum over the tiles too.

    After the arguments of a walk come the bytes of a plane and where a thread's sums begin.
    """
    side, to = square.sides
    code = Code(_Walk.ARGUMENTS + 2, width)
    walk = _Walk(code, side, step)
    plane, totals = code.arguments[-2:]
    begin, end = code.share(walk.tiles)
    if sums:
        totals = code.add(totals, code.mul(code.thread(), walk.channels, FLOAT_BYTES))
    with code.loop(begin, end) as tile:
        walk.place(tile)
        with code.where(walk.cut):
            walk.clear()
        with walk.vectors() as (channel, there):
            with code.where(walk.cut):
                walk.copy(there, out=False)
            pixels = _square(code, side, *walk.pixels(there))
            values = [[code.load(pixel) for pixel in row] for row in pixels]
            offset = code.mul(code.add(code.mul(tile, walk.channels), channel), FLOAT_BYTES)
            here = _square(code, to, code.add(walk.planes, offset), code.mul(plane, to), plane)
            for places, row in zip(here, square.write(code, values), strict=True):
                for place, value in zip(places, row, strict=True):
                    code.store(value, place)
            if sums:
                total = code.add(totals, code.mul(channel, FLOAT_BYTES))
                flat = [code.load(total), *(value for row in values for value in row)]
                code.store(code.weighted([1.0] * len(flat), flat), total)
    return code.finish()


@cache
def _putting(square: Square, step: int, width: int, slope: float | None) -> Kernel:
    """Planes, transformed, to tiles of a blob, plus a bias, and with a ReLU if it has a slope.

    After the arguments of a walk come the bytes of a plane and the bias.
    """
    of, side = square.sides
    code = Code(_Walk.ARGUMENTS + 2, width)
    walk = _Walk(code, side, step)
    plane, bias = code.arguments[-2:]
    begin, end = code.share(walk.tiles)
    with code.loop(begin, end) as tile:
        walk.place(tile)
        with walk.vectors() as (channel, there):
            offset = code.mul(code.add(code.mul(tile, walk.channels), channel), FLOAT_BYTES)
            here = _square(code, of, code.add(walk.planes, offset), code.mul(plane, of), plane)
            values = square.write(code, [[code.load(place) for place in row] for row in here])
            add = code.load(code.add(bias, code.mul(channel, FLOAT_BYTES)))
            pixels = _square(code, side, *walk.pixels(there))
            for addresses, row in zip(pixels, values, strict=True):
                for pixel, value in zip(addresses, row, strict=True):
                    made = code.build.fadd(value, add)
                    code.store(made if slope is None else code.leaky(made, slope), pixel)
            with code.where(walk.cut):
                walk.copy(there, out=True)
    return code.finish()


@cache
def _between(square: Square) -> Kernel:
    """Planes to planes: (from, bytes of a plane there, to, bytes of a plane here, bytes)."""
    of, to = square.sides
    code = Code(5)
    source, there, target, here, size = code.arguments
    vector = code.vector.count * FLOAT_BYTES
    begin, end = code.share(code.divided(size, vector)[0])
    with code.loop(code.mul(begin, vector), code.mul(end, vector), vector) as at:
        places = _square(code, of, code.add(source, at), code.mul(there, of), there)
        values = square.write(code, [[code.load(place) for place in row] for row in places])
        targets = _square(code, to, code.add(target, at), code.mul(here, to), here)
        for addresses, row in zip(targets, values, strict=True):
            for place, value in zip(addresses, row, strict=True):
                code.store(value, place)
    return code.finish()


@cache
def _products(turned: bool) -> Kernel:
    """C = A B, or Aᵀ B, for every place: (places, m, n, k; A, B, C; their bytes; whether to add).

    Each thread takes some of the places; within one, oneDNN's sgemm computes.
    """
    code = Code(11)
    count, m, n, k, *rest = code.arguments
    starts, sizes, add = rest[:3], rest[3:6], rest[6]
    function = runtime().lib.address("sgemm")
    one, beta = FLOAT(1.0), code.build.sitofp(add, FLOAT)
    begin, end = code.share(count)
    with code.loop(begin, end) as place:
        a, b, c = (
            code.add(start, code.mul(place, size))
            for start, size in zip(starts, sizes, strict=True)
        )
        flags = CHAR(ord("T" if turned else "N")), CHAR(ord("N"))
        row = m if turned else k
        code.call(function, STATUS, *flags, m, n, k, one, a, row, b, n, beta, c, n)
    return code.finish()


# -- run -------------------------------------------------------------------------------------------


GAP = 16  # floats between planes, so that their values do not all want the same lines of a cache


@dataclass(frozen=True)
class Planes:
    """Where an array of planes, (places, rows, columns), lies in memory.

    Attributes:
        start: the address of the first plane.
        bytes: from one plane to the next.
    """

    start: int
    bytes: int
    places: int
    rows: int
    columns: int

    @staticmethod
    def size(places: int, rows: int, columns: int) -> int:
        """Floats of a room for planes with gaps."""
        return places * (rows * columns + GAP)

    @staticmethod
    def apart(room: Array, places: int, rows: int, columns: int) -> Planes:
        """Planes with gaps in such a room."""
        stride = FLOAT_BYTES * (rows * columns + GAP)
        return Planes(address(room), stride, places, rows, columns)

    @staticmethod
    def of_group(array: Array, group: int) -> Planes:
        """Those of a group in an array (places, groups, rows, columns)."""
        places, _, rows, columns = array.shape
        return Planes(address(array[:, group]), array.strides[0], places, rows, columns)


def cut(
    grid: Grid,
    square: Square,
    blob: Array,
    group: int,
    tiles: range,
    planes: Planes,
    sums: Array | None = None,
) -> None:
    """Fill planes with transformed tiles; ``sums`` has a row for each thread to add to."""
    kernel = _cutting(square, grid.step, grid.width, sums is not None)
    where = grid.start(blob, group), tiles.start, len(tiles), *grid.arguments, planes.start
    kernel(*where, planes.bytes, 0 if sums is None else address(sums))


def put(
    grid: Grid,
    square: Square,
    planes: Planes,
    blob: Array,
    group: int,
    tiles: range,
    bias: Array,
    slope: float | None = None,
) -> None:
    """Put tiles together from planes."""
    kernel = _putting(square, grid.step, grid.width, slope)
    where = grid.start(blob, group), tiles.start, len(tiles), *grid.arguments, planes.start
    kernel(*where, planes.bytes, address(bias))


def transform(square: Square, source: Array, target: Array) -> None:
    """Transform what lies in planes, (places, values)."""
    (_, count), (there, here) = source.shape, (a.strides[0] for a in (source, target))
    _between(square)(address(source), there, address(target), here, FLOAT_BYTES * count)


def multiply(a: Planes, b: Planes, c: Planes, turned: bool = False, add: bool = False) -> None:
    """c = a b, or c += a b, place by place; or with aᵀ."""
    k, m = (a.rows, a.columns) if turned else (a.columns, a.rows)
    sizes = a.bytes, b.bytes, c.bytes
    starts = a.start, b.start, c.start
    _products(turned)(a.places, m, b.columns, k, *starts, *sizes, int(add))
