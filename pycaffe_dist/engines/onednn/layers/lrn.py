"""LRN in passes over a few images at a time, which stay in the cache.

oneDNN's own LRN has no fast gradient on most processors, and no fast values but for one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates, in_place
from pycaffe_dist.engines.onednn.core.formulas import Formula, Step
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, plain
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.engines.onednn.layers import pooling
from pycaffe_dist.layers import lrn as generic
from pycaffe_dist.layers.windows import CACHED, Windows
from pycaffe_dist.memory import aligned

Run = Callable[..., None]


@accelerates("LRN")
class LRN(Accelerated, generic.LRN):
    __doc__ = generic.LRN.__doc__
    replays = True

    def prepare(self, bottom: Views, top: Views) -> None:
        if in_place(bottom[0], top[0]):
            raise OneDnnError("in place")
        dims = bottom[0].shape
        self._around = around = (Channels if self.across else Pixels)(dims, self.size)
        count, factor = around.count, self.alpha_over_n * around.divisor
        self._s = aligned(count, self.dtype)
        self._squares = Formula("x", ("mul", "x")).over(count)
        self._scale = around.then(("linear", factor, self.k))
        self._values = Formula("s", *self._power(), ("mul", "x")).over(count)
        self._ratios = Formula("y", ("mul", "gy"), ("div", "s")).over(count)
        self._shares = around.then(("linear", -2 * factor * self.beta, 0), ("mul", "x"))
        self._gradient = Formula("s", *self._power(), ("mul", "gy"), ("add", "gx")).over(count)

    def _power(self) -> tuple[Step, ...]:
        """From s to s^−β."""
        if self.beta == 0.75:
            return ("sqrt",), ("mul", "s"), ("sqrt",), ("pow", 1, -1)
        return ("log",), ("linear", -self.beta, 0), ("exp",)

    def fast_forward(self, bottom: Views, top: Views) -> None:
        home = self._around.layout.home
        room, target = bottom[0].blob.data_value.read(home), top[0].blob.data_value.replace(home)
        do(self._compute, room, target)

    def _compute(self, room: Array, target: Array) -> None:
        for x, y in self._parts(room, target):
            self._sum_squares(x)
            self._values(self._s, x, y)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        """Once more from x, so that nothing is kept between the passes."""
        if not (propagate_down[0] or self.across):
            return
        home, s, below, above = self._around.layout.home, self._s, bottom[0].blob, top[0].blob
        given = below.data_value, above.data_value, above.diff_value
        rooms = [value.read(home) for value in given]
        for x, y, gy, gx in self._parts(*rooms, below.diff_value.replace(home)):
            self._sum_squares(x)
            self._ratios(y, gy, s, self._around.values)
            self._shares(x, gx)
            self._gradient(s, gy, gx, gx)

    def _sum_squares(self, x: Array) -> None:
        """Fill s."""
        self._squares(x, self._around.values)
        self._scale(self._s)

    def _parts(self, *rooms: Array) -> Iterator[list[Array]]:
        count = self._around.count
        for begin in range(0, self._around.parts * count, count):
            yield [room[begin : begin + count] for room in rooms]


class Channels:
    """Σ over neighbouring channels of one image: of the same memory, seen some channels apart.

    Before the first channel and behind the last there are zeros.
    """

    divisor = 1

    def __init__(self, dims: Dims, size: int) -> None:
        self.layout: Layout = plain(dims)
        self.parts, self.count = dims[0], prod(dims[1:])
        pixels, before = prod(dims[2:]), size // 2
        room = aligned((dims[1] + size - 1) * pixels, np.dtype(np.float32))
        self._seen = [room[k * pixels :][: self.count] for k in range(size)]
        self.values = self._seen[before]

    def then(self, *steps: Step) -> Run:
        """The sums of what is in ``values``, with more steps behind; called with their operands."""
        first, *others = (f"channel {k}" for k in range(len(self._seen)))
        formula = Formula(first, *(("add", other) for other in others), *steps).over(self.count)
        return lambda *rooms: formula(*self._seen, *rooms)


class Pixels:
    """Means over the pixels around, of some images in blocks of channels."""

    def __init__(self, dims: Dims, size: int) -> None:
        self.divisor = size**2  # the sum is so many times the mean
        at_once = max(n for n in range(1, dims[0] + 1) if dims[0] % n == 0 and _cached(n, dims))
        self.parts = dims[0] // at_once
        some = at_once, *dims[1:]
        windows = Windows((size,) * 2, (1, 1), (size // 2,) * 2, (1, 1), dims[2:], dims[2:])
        for self.layout, layout in zip(*map(pooling.in_blocks, (dims, some)), strict=True):
            made = pooling.Made(pooling.MEAN_WITH_PADDING, layout, some, windows, False)
            if made.is_fast:
                break
        else:
            raise OneDnnError("there are only slow implementations")
        self._pool = made.forward
        self.count = layout.size // 4
        self.values, self._means = (aligned(self.count, np.dtype(np.float32)) for _ in range(2))

    def then(self, *steps: Step) -> Run:
        """As for channels, but of means."""
        formula = Formula("mean", *steps).over(self.count)

        def run(*rooms: Array) -> None:
            self._pool(self.values, self._means)
            formula(self._means, *rooms)

        return run


def _cached(images: int, dims: Dims) -> bool:
    return images == 1 or images * prod(dims[1:]) <= CACHED
