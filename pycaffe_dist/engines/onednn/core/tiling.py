"""Winograd's steps: the kernels of tiles.py, called with where their arrays lie."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.jit import FLOAT_BYTES, address
from pycaffe_dist.engines.onednn.core.planes import Planes
from pycaffe_dist.engines.onednn.core.squares import Square
from pycaffe_dist.engines.onednn.core.tiles import (
    BetweenArguments,
    Grid,
    ProductArguments,
    between,
    cutting,
    products,
    putting,
)


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
    kernel = cutting(square, grid.step, grid.width, sums is not None)
    kernel(*grid.arguments(blob, group, tiles, planes, sums))


def put(
    grid: Grid,
    square: Square,
    planes: Planes,
    blob: Array,
    group: int,
    tiles: range,
    bias: Array,
    slope: float | None = None,
    add: bool = False,
) -> None:
    """Put tiles together from planes; if asked, added to what the blob holds."""
    kernel = putting(square, grid.step, grid.width, slope, add)
    kernel(*grid.arguments(blob, group, tiles, planes, bias))


def transform(square: Square, source: Array, target: Array) -> None:
    """Transform what lies in planes, (places, values)."""
    (_, count), (there, here) = source.shape, (a.strides[0] for a in (source, target))
    size = FLOAT_BYTES * count
    between(square)(*BetweenArguments(address(source), there, address(target), here, size))


def multiply(a: Planes, b: Planes, c: Planes, turned: bool = False, add: bool = False) -> None:
    """c = a b, or c += a b, place by place; or with aᵀ."""
    k, m = (a.rows, a.columns) if turned else (a.columns, a.rows)
    starts, sizes = (a.start, b.start, c.start), (a.bytes, b.bytes, c.bytes)
    given = ProductArguments(a.places, m, b.columns, k, *starts, *sizes, int(add))
    products(turned)(*given)
