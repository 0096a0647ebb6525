"""Convolutions with 3×3 kernels and stride 1 by Winograd's filtering (engines/winograd.py)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array, DType
from pycaffe_dist.engines import winograd
from pycaffe_dist.engines.onednn.core.arithmetic import SUM, PostOps, relu_slope
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.planes import Planes
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, plain, strided
from pycaffe_dist.engines.onednn.core.squares import Square
from pycaffe_dist.engines.onednn.core.started import runtime
from pycaffe_dist.engines.onednn.core.tiles import Grid
from pycaffe_dist.engines.onednn.core.tiling import cut, multiply, put, transform
from pycaffe_dist.engines.winograd import Transforms
from pycaffe_dist.memory import Home, aligned
from pycaffe_dist.threads import threads

CACHED = 4 << 20  # bytes of planes that are worked on together, to stay in the cache
FEWEST = 192  # tiles worked on together: each such chunk reads all kernels
LINE = 16  # floats
TAPS = 9


@dataclass(frozen=True, eq=False)
class Filtering:
    """The transforms for one size of tiles.

    Attributes:
        name: of the candidate.
        step: the side of a tile of the output.
        image, kernel, out: Bᵀ, G and Aᵀ.
        least: channels on both sides from which on it is worth trying.
    """

    name: str
    step: int
    places: int
    image: Square
    kernel: Square
    out: Square
    least: int

    @staticmethod
    def of(numbers: Transforms, least: int) -> Filtering:
        step = numbers.step
        image, kernel, out = (
            Square(*(matrix.astype(np.float32) for matrix in factors))
            for factors in (numbers.image, numbers.kernel, numbers.out)
        )
        name = f"winograd {step}x{step}"
        return Filtering(name, step, numbers.places, image, kernel, out, least)


F2, F4 = Filtering.of(winograd.F2, least=8), Filtering.of(winograd.F4, least=32)
FILTERINGS = F4, F2


def taps(shape: tuple[int, int, int], turned: bool = False) -> Layout:
    """Weights (group, M, C, 3 · 3) with the nine taps outermost; turned, C stands before M."""
    group, m, c = shape
    inner = (1, m) if turned else (c, 1)
    return strided((group, m, c, TAPS), (m * c, *inner, group * m * c))


class Kernels:
    """A home where weights are kept transformed, by place; only to be read there.

    Forward they are (places, group, C, M), backward, turned round, (places, group, M, C).
    """

    def __init__(self, filtering: Filtering, shape: tuple[int, int, int], backward: bool) -> None:
        self.taps = taps(shape, turned=not backward)
        self.kernels, self.places = prod(shape), filtering.places
        self.count = TAPS * self.kernels
        self.square = filtering.kernel.flipped if backward else filtering.kernel
        self.home: Home = self

    def allocate(self, count: int, dtype: DType) -> Array:
        return aligned(self.places * self.kernels, dtype)

    def size_of(self, count: int, dtype: DType) -> int:
        return self.places * self.kernels * dtype.itemsize

    def numbers(self, dtype: DType) -> DType:
        return dtype

    def clear(self, room: Array) -> None:
        room[...] = 0

    def load(self, host: Array, room: Array) -> None:
        (by_tap,) = rooms(self.count)
        self.taps.load(host, by_tap)
        transform(self.square, by_tap.reshape(TAPS, -1), room.reshape(self.places, -1))

    def store(self, room: Array, host: Array) -> None:
        raise NotImplementedError("transformed kernels are not turned back")

    def fetch(self, source: Home, there: Array, room: Array) -> bool:
        return False


@cache
def kernels(filtering: Filtering, shape: tuple[int, int, int], backward: bool) -> Kernels:
    return Kernels(filtering, shape, backward)


def rooms(*sizes: int) -> list[Array]:
    """Scratch memory for so many floats each, every room from a cache line on."""
    lines = [-(-size // LINE) * LINE for size in sizes]
    whole = runtime().scratch(4 * sum(lines))
    starts = accumulate(lines, initial=0)
    return [whole[start : start + size] for start, size in zip(starts, sizes, strict=False)]


class Winograd:
    """One of the products of a convolution, between blobs that are both blocked by channels.

    Args:
        filtering: the size of tiles.
        source, target: layouts of what the tiles are cut from and put together to.
        group: of the convolution.
        pad: of the source.
    """

    def __init__(
        self, filtering: Filtering, source: Layout, target: Layout, group: int, pad: Dims
    ) -> None:
        self.filtering, self.name, self.group = filtering, filtering.name, group
        height, width = target.dims[2:]
        step = filtering.step
        shape = -(-height // step), -(-width // step)
        self.source = Grid(source, group, shape, step, pad)
        self.target = Grid(target, group, shape, step, (0, 0))
        self.c, self.m = self.source.channels, self.target.channels
        if min(self.c, self.m) < filtering.least:
            raise OneDnnError(f"{self.name}: too few channels")
        _ = self.source.width, self.target.width  # refuse what is not in blocks
        self.count = source.dims[0] * prod(shape)

    @cached_property
    def chunks(self) -> list[range]:
        """Tiles that are worked on together, of nearly the same number."""
        one = 4 * self.filtering.places * (self.c + self.m)
        number = -(-self.count // max(FEWEST, CACHED // one))
        edges = [self.count * i // number for i in range(number + 1)]
        return [range(*edges[i : i + 2]) for i in range(number)]

    def rooms(self, more: int = 0) -> list[Array]:
        """Room for the planes of a chunk, of the source and of the target, and for more floats."""
        most = max(len(chunk) for chunk in self.chunks)
        sizes = (Planes.size(self.filtering.places, most, n) for n in (self.c, self.m))
        return rooms(*sizes, more)


class Gather(Winograd):
    """out = convolution of the image + b; or, with kernels turned round, an image's gradient.

    Called with rooms as a product is: image, kernels, bias, out; backward image, kernels, out.
    """

    def __init__(
        self,
        filtering: Filtering,
        source: Layout,
        target: Layout,
        group: int,
        pad: Dims,
        bias: bool = False,
        post_ops: PostOps = (),
        backward: bool = False,
    ) -> None:
        super().__init__(filtering, source, target, group, pad)
        self.backward = backward
        shape = (group, self.c, self.m) if backward else (group, self.m, self.c)
        biases = [plain((target.dims[1],))] if bias else []
        outer = (target, source) if backward else (source, target)
        made = kernels(filtering, shape, backward)
        # Kernels stand where others have a layout.
        self.layouts: list[Any] = [outer[0], made, *biases, outer[1]]
        self._no_bias = np.zeros(0 if bias else target.dims[1], np.float32)
        self._slope, self._adds = relu_slope(post_ops), SUM in post_ops

    def call(self, first: Array, kernels: Array, *rest: Array) -> None:
        *bias, last = rest
        source, target = (last, first) if self.backward else (first, last)
        add = bias[0] if bias else self._no_bias
        f, c, m = self.filtering, self.c, self.m
        by_place = kernels.reshape(f.places, self.group, c, m)
        v_room, z_room, _ = self.rooms()
        for group in range(self.group):
            u = Planes.of_group(by_place, group)
            b = add[group * m : (group + 1) * m]
            for tiles in self.chunks:
                v = Planes.apart(v_room, f.places, len(tiles), c)
                z = Planes.apart(z_room, f.places, len(tiles), m)
                cut(self.source, f.image, source, group, tiles, v)
                multiply(v, u, z)
                put(self.target, f.out, z, target, group, tiles, b, self._slope, self._adds)


class Weights(Winograd):
    """The gradient of the kernels, and of the bias: sums over all tiles.

    Called with rooms as a product is: image, weights, bias, out.
    """

    def __init__(
        self, filtering: Filtering, image: Layout, out: Layout, group: int, pad: Dims, bias: bool
    ) -> None:
        super().__init__(filtering, image, out, group, pad)
        biases = [plain((out.dims[1],))] if bias else []
        self._shape = group, self.m, self.c
        self.layouts: list[Layout] = [image, taps(self._shape), *biases, out]

    def call(self, image: Array, weights: Array, *rest: Array) -> None:
        *bias, out = rest
        f, m = self.filtering, self.m
        v_room, w_room, total_room = self.rooms(f.places * prod(self._shape))
        sums = total_room.reshape(f.places, *self._shape)
        for group in range(self.group):
            total = Planes.of_group(sums, group)
            above = np.zeros(m)
            for i, tiles in enumerate(self.chunks):
                v = Planes.apart(v_room, f.places, len(tiles), self.c)
                w = Planes.apart(w_room, f.places, len(tiles), m)
                cut(self.source, f.image, image, group, tiles, v)
                by_thread = np.zeros((threads(), m), np.float32) if bias else None
                cut(self.target, f.out.transposed, out, group, tiles, w, by_thread)
                multiply(w, v, total, turned=True, add=i > 0)
                if by_thread is not None:
                    above += by_thread.sum(axis=0, dtype=np.float64)
            for b in bias:
                b[group * m : (group + 1) * m] = above
        transform(f.kernel.transposed, sums.reshape(f.places, -1), weights.reshape(TAPS, -1))
