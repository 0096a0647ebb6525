"""Winograd's minimal filtering F(2×2, 3×3) for convolutions with 3×3 kernels and stride 1.

Each 2×2 tile of the output is Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A of a 4×4 tile d of the image and a kernel g:
16 products where 36 are needed otherwise.  Summed over channels they are 16 matrix products, one
for each place in the tile.  The transforms, written as one matrix over all places of a tile
(Bᵀ ⊗ Bᵀ and so on), are matrix products as well; tiles are taken apart and put together by
reorders with strides.  The gradients are the transposes of the same three transforms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from pycaffe_dist.engines.onednn.arithmetic import PostOps, activation, copy
from pycaffe_dist.engines.onednn.library import OneDnnError
from pycaffe_dist.engines.onednn.primitives import Call, Dims, Layout, plain, runtime, strided
from pycaffe_dist.memory import Array, Home, aligned

_B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], np.float32)
_G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
_A = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], np.float32)
# Over all places of a tile at once.
IMAGE, KERNEL, OUT = np.kron(_B, _B), np.kron(_G, _G), np.kron(_A, _A)
FLIPPED = np.ascontiguousarray(KERNEL[:, ::-1])  # a kernel turned round is its taps back to front
TILE, STEP, PLACES = 4, 2, 16
CACHED = 12 << 20  # bytes of tiles that are worked on together, to stay in the cache
FLOAT = np.dtype(np.float32)


@dataclass(frozen=True)
class Tap:
    """One place of all tiles: where it lies in a blocked blob and in the array of tiles."""

    there: int  # the first value, counted in floats from the first image of the blob
    here: int
    call: Call


class Tiles:
    """A blob (N, C, H, W), blocked by channels, as tiles: (places, images · tiles, C/group).

    Args:
        layout: the blob's.
        group: channels are taken group by group.
        shape: rows and columns of tiles.
        side: of a tile; from one to the next it is two.
        pad: how far the first tile begins outside.
        images: worked on together.
        write: the blob is put together from tiles, not cut up.
    """

    def __init__(
        self,
        layout: Layout,
        group: int,
        shape: tuple[int, int],
        side: int,
        pad: Dims,
        images: int,
        write: bool,
    ) -> None:
        _, channels, height, width = layout.dims
        self.block = _block(layout)
        self.channels, self.side, self.places = channels // group, side, side * side
        if self.channels % self.block:
            raise OneDnnError("Winograd's channels are not whole blocks")
        self.images, self.shape = images, shape
        self.count, self.image = images * prod(shape), channels * height * width
        self.plane, self.width = height * width * self.block, width
        self.group_step = self.channels * height * width
        self.pad, self.write = pad, write
        self.whole = True
        self.taps: list[Tap] = []
        for y in range(side):
            for x in range(side):
                self._add(y, x, height)

    def _add(self, y: int, x: int, height: int) -> None:
        rows = _met(y - self.pad[0], height, self.shape[0])
        columns = _met(x - self.pad[1], self.width, self.shape[1])
        shape = (rows[1] - rows[0], columns[1] - columns[0])
        self.whole &= shape == self.shape
        if min(shape) <= 0:
            return
        # Rows that reach, with their stride, over the end of a plane would be refused.
        fitting = min(shape[0], height // STEP)
        for row, count in ((rows[0], fitting), (rows[0] + fitting, shape[0] - fitting)):
            if count:
                self._add_rows(y, x, (row, columns[0]), (count, shape[1]))

    def _add_rows(self, y: int, x: int, first: Dims, shape: Dims) -> None:
        b, c, width, columns = self.block, self.channels, self.width, self.shape[1]
        dims: Dims = (self.images, c // b, *shape, b)
        there = strided(dims, (self.image, self.plane, STEP * width * b, STEP * b, 1))
        here = strided(dims, (prod(self.shape) * c, b, columns * c, c, 1))
        row, column = STEP * first[0] + y - self.pad[0], STEP * first[1] + x - self.pad[1]
        at = ((y * self.side + x) * self.count + first[0] * columns + first[1]) * c
        call = copy(here, there) if self.write else copy(there, here)
        self.taps.append(Tap((row * width + column) * b, at, call))

    @property
    def size(self) -> int:
        return self.places * self.count * self.channels

    def take(self, blob: Array, image: int, group: int, tiles: Array) -> None:
        """Fill ``tiles`` from the images that begin at ``image``; zeros where there are none."""
        if not self.whole:
            tiles[: self.size] = 0
        start = image * self.image + group * self.group_step
        for tap in self.taps:
            tap.call(blob[start + tap.there :], tiles[tap.here :])

    def put(self, tiles: Array, blob: Array, image: int, group: int) -> None:
        start = image * self.image + group * self.group_step
        for tap in self.taps:
            tap.call(tiles[tap.here :], blob[start + tap.there :])


def _block(layout: Layout) -> int:
    """The channels that lie side by side in a layout blocked by nothing else."""
    dims, strides, blocks = layout.key
    _, c, h, w = dims
    if not blocks and strides == (c * h * w, 1, w * c, c):
        return int(c)  # all of them
    b = int(blocks[0][0]) if len(blocks) == 1 and blocks[0][1] == 1 else 0
    if not b or c % b or strides != (c * h * w, h * w * b, w * b, b):
        raise OneDnnError("Winograd's blobs are not blocked by channels, or have gaps")
    return b


def _met(offset: int, size: int, tiles: int) -> tuple[int, int]:
    """Which tiles, begin and end, have the place ``offset`` inside of the image."""
    first = max(0, -(offset // STEP)) if offset < 0 else 0
    return first, min(tiles, (size - 1 - offset) // STEP + 1)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def product(a: Array, b: Array, c: Array, add: bool = False) -> None:
    """C = a b, or c += a b; either factor may be the transpose of a contiguous array."""
    (m, k), n = a.shape, b.shape[1]
    ta, tb = a.strides[1] != 4 and m > 1, b.strides[1] != 4 and n > 1
    flags = b"T" if ta else b"N", b"T" if tb else b"N"
    lda, ldb = (m if ta else k), (k if tb else n)
    sizes = (m, n, k, 1.0, _address(a), lda, _address(b), ldb, float(add), _address(c), n)
    if runtime().lib.sgemm(*flags, *sizes):
        raise OneDnnError("sgemm is refused")


def weight_layout(count: int) -> Layout:
    """Weights (M, C/group, 3, 3) with the nine taps outermost; ``count`` is M · C/group."""
    return strided((count, 9), (1, count))


class Kernels:
    """A home where weights are kept transformed, (places, M · C/group); only to be read there."""

    def __init__(self, count: int, matrix: Array) -> None:
        self.count, self.matrix = count, matrix
        self.home: Home = self

    def allocate(self, count: int, dtype: np.dtype[Any]) -> Array:
        return aligned(PLACES * self.count, dtype)

    def size_of(self, count: int, dtype: np.dtype[Any]) -> int:
        return PLACES * self.count * dtype.itemsize

    def clear(self, room: Array) -> None:
        room[...] = 0

    def load(self, host: Array, room: Array) -> None:
        taps = runtime().scratch(4 * 9 * self.count)[: 9 * self.count]
        weight_layout(self.count).load(host, taps)
        product(self.matrix, taps.reshape(9, self.count), room)

    def store(self, room: Array, host: Array) -> None:
        raise NotImplementedError("transformed kernels are not turned back")

    def fetch(self, source: Home, there: Any, room: Array) -> bool:
        return False


@cache
def kernels(count: int, backward: bool) -> Kernels:
    return Kernels(count, FLIPPED if backward else KERNEL)


class Winograd:
    """One of the products of a convolution, between blobs that are both blocked by channels.

    Args:
        source, target: layouts of what the tiles are cut from and, 2×2, put together to.
        group: of the convolution.
        pad: of the source.
    """

    name = "winograd"

    def __init__(self, source: Layout, target: Layout, group: int, pad: Dims) -> None:
        self.source, self.target, self.group, self.pad = source, target, group, pad
        n, c, _, _ = source.dims
        _, m, height, width = target.dims
        self._shape = -(-height // STEP), -(-width // STEP)
        self.c, self.m = c // group, m // group
        one = max(self.c, self.m) * PLACES * prod(self._shape) * FLOAT.itemsize
        self.images = max(d for d in range(1, n + 1) if not n % d and (d == 1 or d * one < CACHED))
        self.count = m * self.c

    def tiles(self, layout: Layout, size: int, pad: Dims, write: bool = False) -> Tiles:
        return Tiles(layout, self.group, self._shape, size, pad, self.images, write)

    def chunks(self) -> list[tuple[int, int]]:
        """(first image, group) of what is worked on together."""
        images = range(0, self.source.dims[0], self.images)
        return [(image, g) for g in range(self.group) for image in images]


def _rooms(*sizes: int) -> list[Array]:
    """Scratch memory for so many floats each, every room from a cache line on."""
    lines = [-(-size // 16) * 16 for size in sizes]
    whole = runtime().scratch(FLOAT.itemsize * sum(lines))
    starts = accumulate(lines, initial=0)
    return [whole[start : start + size] for start, size in zip(starts, sizes, strict=False)]


class Gather(Winograd):
    """Out = convolution of the image + b; or, with kernels turned round, an image's gradient.

    Called with rooms as a product is: image, kernels, bias, out; backward image, kernels, out.
    """

    def __init__(
        self,
        source: Layout,
        target: Layout,
        group: int,
        pad: Dims,
        bias: bool = False,
        post_ops: PostOps = (),
        backward: bool = False,
    ) -> None:
        super().__init__(source, target, group, pad)
        self._from = self.tiles(source, TILE, pad)
        self._to = self.tiles(target, STEP, (0, 0), write=True)
        self.backward = backward
        made = kernels(self.count, backward)
        outer = (target, source) if backward else (source, target)
        biases = [plain((target.dims[1],))] if bias else []
        self.layouts: list[Any] = [outer[0], made, *biases, outer[1]]
        flat = plain((self._to.size,))
        self._finish = [activation(flat, post_op) for post_op in post_ops]

    def call(self, first: Array, kernels: Array, *rest: Array) -> None:
        *bias, last = rest
        source, target = (last, first) if self.backward else (first, last)
        c, m, t = self.c, self.m, self._from.count
        # They are (M, C/group) each: turned round, M is what is summed over.
        by_place = kernels.reshape(PLACES, self.group, *((c, m) if self.backward else (m, c)))
        d, v, z, y = _rooms(self._from.size, self._from.size, PLACES * t * m, self._to.size)
        for image, group in self.chunks():
            self._from.take(source, image, group, d)
            product(IMAGE, d.reshape(PLACES, t * c), v)
            for place, tiles in enumerate(v.reshape(PLACES, t, c)):
                kernel = by_place[place, group]
                product(tiles, kernel if self.backward else kernel.T, z[place * t * m :])
            product(OUT, z.reshape(PLACES, t * m), y)
            for b in bias:
                rows = y.reshape(-1, m)
                rows += b[group * m : (group + 1) * m]
            for finish in self._finish:
                finish(y, y)
            self._to.put(y, target, image, group)


class Weights(Winograd):
    """The gradient of the kernels, and of the bias: sums over all tiles.

    Called with rooms as a product is: image, weights, bias, out.
    """

    def __init__(self, image: Layout, out: Layout, group: int, pad: Dims, bias: bool) -> None:
        super().__init__(image, out, group, pad)
        self._image = self.tiles(image, TILE, pad)
        self._out = self.tiles(out, STEP, (0, 0))
        biases = [plain((out.dims[1],))] if bias else []
        self.layouts: list[Any] = [image, weight_layout(self.count), *biases, out]

    def call(self, image: Array, weights: Array, *rest: Array) -> None:
        *bias, out = rest
        c, m, t = self.c, self.m, self._image.count
        d, v, y, w, total = _rooms(
            self._image.size,
            self._image.size,
            self._out.size,
            PLACES * t * m,
            PLACES * self.count,
        )
        sums = total.reshape(PLACES, self.group, m, c)
        ones = np.ones((1, len(y) // m), np.float32)
        for first, group in self.chunks():
            self._image.take(image, first, group, d)
            product(IMAGE, d.reshape(PLACES, t * c), v)
            self._out.take(out, first, group, y)
            product(OUT.T, y.reshape(STEP * STEP, t * m), w)
            by_place = zip(w.reshape(PLACES, t, m), v.reshape(PLACES, t, c), strict=True)
            for place, (left, right) in enumerate(by_place):
                product(left.T, right, sums[place, group], add=first > 0)
            for b in bias:
                product(ones, y.reshape(-1, m), b[group * m :], add=first > 0)
        product(KERNEL.T, total.reshape(PLACES, self.count), weights)
