"""Winograd's transforms as kernels: between a blob blocked by channels and planes of tiles.

A blob (N, C, H, W) is covered with square tiles, all of whose channels follow one another.  Planes
are (places, tiles, C): plane p has the p-th value of every transformed tile, so that products with
the p-th value of every kernel are one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.jit import (
    CHAR,
    FLOAT,
    FLOAT_BYTES,
    STATUS,
    Code,
    Kernel,
    Operand,
    address,
)
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.planes import Planes
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout
from pycaffe_dist.engines.onednn.core.squares import Square
from pycaffe_dist.engines.onednn.core.started import runtime

WIDTH = 16  # floats of a vector, or half of that where blocks are smaller


class TileArguments(NamedTuple):
    """What a kernel between a blob and planes is given, in this order, as 64-bit integers."""

    blob: Operand  # the address of a group's first value
    first: Operand  # the tile to begin with
    tiles: Operand  # how many
    rows: Operand  # of tiles, in an image
    columns: Operand
    height: Operand  # of an image
    width: Operand
    pad_top: Operand
    pad_left: Operand
    channels: Operand  # of a group
    block: Operand  # channels that lie together
    image_bytes: Operand  # from one to the next
    block_bytes: Operand
    row_bytes: Operand
    column_bytes: Operand
    planes: Operand  # the address of the first
    plane_bytes: Operand
    more: Operand  # the address of sums, or of a bias


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

    def arguments(
        self, blob: Array, group: int, tiles: range, planes: Planes, more: Array | None
    ) -> TileArguments:
        """For a kernel that works on some tiles of a group of channels."""
        _, _, h, w = self.layout.dims
        first = address(blob) + FLOAT_BYTES * group * self.channels * h * w
        last = planes.start, planes.bytes, 0 if more is None else address(more)
        return TileArguments._make((first, tiles.start, len(tiles), *self._constants, *last))

    @cached_property
    def _constants(self) -> tuple[int, ...]:
        """From the rows to the bytes of a column."""
        _, c, h, w = self.layout.dims
        block = block_of(self.layout)
        strides = (FLOAT_BYTES * s for s in (c * h * w, h * w * block, block * w, block))
        return (*self.shape, h, w, *self.pad, self.channels, block, *strides)


def block_of(layout: Layout) -> int:
    """The channels that lie side by side in a layout blocked by nothing else."""
    dims, strides, blocks, _ = layout.key
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

    def __init__(self, code: Code, side: int, step: int) -> None:
        self.code, self.side, self.step = code, side, step
        self.given = TileArguments(*code.arguments)
        self.blocks, _ = code.divided(self.given.channels, self.given.block)
        self.room = code.room(side * side)
        self.vector = code.vector.count * FLOAT_BYTES

    def place(self, tile: Operand) -> None:
        """Find where a tile lies."""
        code, given = self.code, self.given
        at, x = code.divided(code.add(given.first, tile), given.columns)
        n, y = code.divided(at, given.rows)
        top = code.sub(code.mul(y, self.step), given.pad_top)
        left = code.sub(code.mul(x, self.step), given.pad_left)
        self.start = code.add(
            given.blob,
            code.mul(n, given.image_bytes),
            code.mul(top, given.row_bytes),
            code.mul(left, given.column_bytes),
        )
        ends = (given.height, top), (given.width, left)
        self.begins = [code.most(0, code.sub(0, first)) for _, first in ends]
        self.ends = [code.least(self.side, code.sub(size, first)) for size, first in ends]
        whole = [(begin, "==", 0) for begin in self.begins]
        whole += [(end, "==", self.side) for end in self.ends]
        self.whole = code.all(*whole)
        self.cut = code.build.not_(self.whole)

    def pixels(self, address: Operand) -> tuple[Operand, Operand, Operand]:
        """Where the first pixel is, and how far it is to the next row and column."""
        code, given = self.code, self.given
        choices = (
            (address, self.room),
            (given.row_bytes, self.vector * self.side),
            (given.column_bytes, self.vector),
        )
        first, row, column = (code.choose(self.whole, a, b) for a, b in choices)
        return first, row, column

    @contextmanager
    def vectors(self) -> Iterator[tuple[Operand, Operand]]:
        """Each vector's first channel, and the address of its first pixel in the tile."""
        code, given = self.code, self.given
        with code.loop(0, self.blocks) as block:
            there = code.add(self.start, code.mul(block, given.block_bytes))
            first = code.mul(block, given.block)
            with code.loop(0, given.block, code.vector.count) as lane:
                yield code.add(first, lane), code.add(there, code.mul(lane, FLOAT_BYTES))

    def copy(self, address: Operand, out: bool) -> None:
        """Copy what lies inside the image from the blob to the room, or out of it."""
        code, given = self.code, self.given
        rows, columns = zip(self.begins, self.ends, strict=True)
        with code.loop(*rows) as y, code.loop(*columns) as x:
            there = code.add(address, code.mul(y, given.row_bytes), code.mul(x, given.column_bytes))
            place = code.add(code.mul(y, self.side), x)
            here = code.add(self.room, code.mul(place, self.vector))
            source, target = (here, there) if out else (there, here)
            code.store(code.load(source), target)

    def clear(self) -> None:
        with self.code.loop(0, self.side * self.side) as i:
            place = self.code.add(self.room, self.code.mul(i, self.vector))
            self.code.store(self.code.constant(0.0), place)


def _square(
    code: Code, side: int, first: Operand, row: Operand, column: Operand
) -> list[list[Operand]]:
    """The addresses of a square."""
    return [
        [code.add(first, code.mul(row, y), code.mul(column, x)) for x in range(side)]
        for y in range(side)
    ]


@cache
def cutting(square: Square, step: int, width: int, sums: bool) -> Kernel:
    """Tiles of a blob, transformed, to planes; if asked, each channel's sum over the tiles too."""
    side, to = square.sides
    code = Code(len(TileArguments._fields), width)
    walk = _Walk(code, side, step)
    given = walk.given
    plane, totals = given.plane_bytes, given.more
    begin, end = code.share(given.tiles)
    if sums:
        totals = code.add(totals, code.mul(code.thread(), given.channels, FLOAT_BYTES))
    with code.loop(begin, end) as tile:
        walk.place(tile)
        with code.where(walk.cut):
            walk.clear()
        with walk.vectors() as (channel, there):
            with code.where(walk.cut):
                walk.copy(there, out=False)
            pixels = _square(code, side, *walk.pixels(there))
            values = [[code.load(pixel) for pixel in row] for row in pixels]
            offset = code.mul(code.add(code.mul(tile, given.channels), channel), FLOAT_BYTES)
            here = _square(code, to, code.add(given.planes, offset), code.mul(plane, to), plane)
            for places, row in zip(here, square.write(code, values), strict=True):
                for place, value in zip(places, row, strict=True):
                    code.store(value, place)
            if sums:
                total = code.add(totals, code.mul(channel, FLOAT_BYTES))
                flat = [code.load(total), *(value for row in values for value in row)]
                code.store(code.weighted([1.0] * len(flat), flat), total)
    return code.finish()


@cache
def putting(square: Square, step: int, width: int, slope: float | None, sums: bool) -> Kernel:
    """Planes, transformed, to tiles of a blob, plus a bias and, if asked, what the blob holds.

    With a ReLU if it has a slope.
    """
    of, side = square.sides
    code = Code(len(TileArguments._fields), width)
    walk = _Walk(code, side, step)
    given = walk.given
    plane, bias = given.plane_bytes, given.more
    begin, end = code.share(given.tiles)
    with code.loop(begin, end) as tile:
        walk.place(tile)
        with walk.vectors() as (channel, there):
            offset = code.mul(code.add(code.mul(tile, given.channels), channel), FLOAT_BYTES)
            here = _square(code, of, code.add(given.planes, offset), code.mul(plane, of), plane)
            values = square.write(code, [[code.load(place) for place in row] for row in here])
            add = code.load(code.add(bias, code.mul(channel, FLOAT_BYTES)))
            if sums:
                with code.where(walk.cut):
                    walk.copy(there, out=False)
            pixels = _square(code, side, *walk.pixels(there))
            for addresses, row in zip(pixels, values, strict=True):
                for pixel, value in zip(addresses, row, strict=True):
                    made = code.build.fadd(value, add)
                    made = code.build.fadd(made, code.load(pixel)) if sums else made
                    code.store(made if slope is None else code.leaky(made, slope), pixel)
            with code.where(walk.cut):
                walk.copy(there, out=True)
    return code.finish()


class BetweenArguments(NamedTuple):
    """Of the kernel from planes to planes: addresses, and the bytes from one plane to the next."""

    source: Operand
    source_bytes: Operand
    target: Operand
    target_bytes: Operand
    size: Operand  # bytes of a plane's values


@cache
def between(square: Square) -> Kernel:
    """Planes to planes."""
    of, to = square.sides
    code = Code(len(BetweenArguments._fields))
    source, there, target, here, size = BetweenArguments(*code.arguments)
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


class ProductArguments(NamedTuple):
    """Of the kernel that multiplies: C is (m, n), A (m, k), B (k, n) for each place."""

    places: Operand
    m: Operand
    n: Operand
    k: Operand
    a: Operand  # addresses of the first
    b: Operand
    c: Operand
    a_bytes: Operand  # from one to the next
    b_bytes: Operand
    c_bytes: Operand
    add: Operand  # 1: to what is in C


@cache
def products(turned: bool) -> Kernel:
    """C = A B, or Aᵀ B, for every place.

    Each thread takes some of the places; within one, oneDNN's sgemm computes.
    """
    code = Code(len(ProductArguments._fields))
    given = ProductArguments(*code.arguments)
    m, n, k = given.m, given.n, given.k
    starts, sizes = (given.a, given.b, given.c), (given.a_bytes, given.b_bytes, given.c_bytes)
    function = runtime().lib.address("sgemm")
    one, beta = FLOAT(1.0), code.build.sitofp(given.add, FLOAT)
    begin, end = code.share(given.places)
    with code.loop(begin, end) as place:
        a, b, c = (
            code.add(start, code.mul(place, size))
            for start, size in zip(starts, sizes, strict=True)
        )
        flags = CHAR(ord("T" if turned else "N")), CHAR(ord("N"))
        row = m if turned else k
        code.call(function, STATUS, *flags, m, n, k, one, a, row, b, n, beta, c, n)
    return code.finish()
