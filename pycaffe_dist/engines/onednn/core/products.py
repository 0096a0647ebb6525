"""The three products of a layer with weights, each as a primitive.

"gather" is from bottom to top, "spread" back to the bottom's gradient, "weights" the gradient of
weights and bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.choice import Candidate
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.library import BF16, F32, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Call, Layout, Primitive, reorder
from pycaffe_dist.engines.onednn.core.started import runtime
from pycaffe_dist.memory import HOST
from pycaffe_dist.threads import threads

SLOW = ("ref", "sse41")  # implementations that are there for machines that have no better
FLOAT = np.dtype(np.float32)
Role = tuple[int, int, int]  # argument, and where a primitive is asked for its layout
_ROOMS: WeakValueDictionary[tuple[Layout, object], Array] = WeakValueDictionary()  # of trials


class Product(Protocol):
    """One of the three products: called with a room for each of its layouts."""

    name: str
    layouts: list[Layout]

    @property
    def call(self) -> Callable[..., object]: ...


class AsPrimitive:
    """A product as a primitive; ``mark`` tells apart what is given it in another layout."""

    def __init__(self, primitive: Primitive, roles: Sequence[Role], mark: str = "") -> None:
        self.name = primitive.implementation + mark
        self.layouts = [primitive.layout(query, index) for _, query, index in roles]
        args = [(role[0], layout) for role, layout in zip(roles, self.layouts, strict=True)]
        self.call: Call = primitive.call(*args)


@dataclass
class ByBlas:
    """A product in Caffe's own order, by a function of the layer that calls BLAS."""

    layouts: list[Layout]
    call: Callable[..., object]
    name: str = "blas"

    @staticmethod
    def handicap() -> float:
        """BLAS has threads of its own, which have to be woken while ours still spin."""
        return 1.5 if threads() > 1 else 1.0


def mark_of(kind: int, kinds: Iterable[int]) -> str:
    """What is put behind the name of a product in fp32 where others are in bf16."""
    return " fp32" if kind == F32 and BF16 in kinds else ""


def implementations(
    make: Callable[[], Primitive],
    roles: Sequence[Role],
    trial: Callable[[Product], Callable[[], object]],
    mark: str = "",
) -> Iterator[Candidate[Product]]:
    """A candidate for each implementation of a primitive, the library's own choice first.

    They are found again by their names: what stands at a position changes with what oneDNN's cache
    of primitives holds.  There are none where the library refuses what is asked for.
    """

    def builder(name: str) -> Callable[[], Product]:
        def build() -> Product:
            primitive = make()
            primitive.seek(name)
            return AsPrimitive(primitive, roles, mark)

        return build

    try:
        names = make().implementations()
    except OneDnnError:
        return
    for name in names:
        if not any(slow in name for slow in SLOW):
            yield Candidate(name + mark, builder(name), trial)


def outer(left: Array, right: Array, out: Array) -> bool:
    """Write leftᵀ right, some three times as fast as BLAS where rows are few; False: it cannot."""
    for x in (left, right, out):
        row = x.strides[0] // x.itemsize
        if x.dtype != FLOAT or x.strides[1] != x.itemsize or not 0 < x.shape[1] <= row:
            return False
    (rows, height), width = left.shape, right.shape[1]
    a, b, c = ((x.ctypes.data, x.strides[0] // x.itemsize) for x in (left, right, out))
    runtime().lib.sgemm(b"T", b"N", height, width, rows, 1.0, *a, *b, 0.0, *c)
    return True


def ones(layout: Layout, what: object) -> Array:
    """Made-up values for trials: for an argument, or whatever else ``what`` names.

    Pages that nobody wrote to would all be one page, in the cache.  Trials that are there at the
    same time share what they have in the same layout: each candidate of a race with memory of its
    own would take several times that of the layer.
    """
    room = _ROOMS.get((layout, what))
    if room is None:
        room = layout.allocate(layout.count, FLOAT)
        room.fill(getattr(layout, "one", 1))
        _ROOMS[layout, what] = room
    return room


def trial_of(
    made: Product, weights: str = "", ends: tuple[Layout, Layout] | None = None
) -> Callable[[], object]:
    """A run with made-up values, and with the conversions that come with it at every step.

    Args:
        made: the product.
        weights: "load" if weights have changed since the last step, "store" if they are a gradient
            that is wanted in Caffe's own order.
        ends: the layouts in which neighbours are likely to have the first and the last room.
    """
    rooms = [ones(x, i) for i, x in enumerate(made.layouts)]
    conversions: list[Callable[[], object]] = []
    layout, room = made.layouts[1], rooms[1]
    if weights and layout.home is not HOST:
        host = np.zeros(layout.count, FLOAT)
        by_load, by_store = lambda: layout.load(host, room), lambda: layout.store(room, host)
        conversions.append(by_load if weights == "load" else by_store)
    for end, i in zip(ends or (), (0, -1), strict=False):
        if end is not made.layouts[i]:
            args = end, ones(end, f"end {i}"), made.layouts[i], rooms[i]
            conversions.append(lambda args=args: reorder(*args))  # type: ignore[misc]

    def run() -> None:
        made.call(*rooms)
        for convert in conversions:
            convert()

    return run


def roles(which: str, bias: bool) -> Sequence[Role]:
    """In the order in which the products give their rooms."""
    q = library
    if which == "spread":
        image, out = (Arg.DIFF_SRC, q.DIFF_SRC, 0), (Arg.DIFF_DST, q.DIFF_DST, 0)
        return image, (Arg.WEIGHTS, q.WEIGHTS, 0), out
    if which == "gather":
        biases = [(Arg.BIAS, q.WEIGHTS, 1)] if bias else []
        weights = (Arg.WEIGHTS, q.WEIGHTS, 0)
        return (Arg.SRC, q.SRC, 0), weights, *biases, (Arg.DST, q.DST, 0)
    biases = [(Arg.DIFF_BIAS, q.DIFF_WEIGHTS, 1)] if bias else []
    weights = (Arg.DIFF_WEIGHTS, q.DIFF_WEIGHTS, 0)
    return (Arg.SRC, q.SRC, 0), weights, *biases, (Arg.DIFF_DST, q.DIFF_DST, 0)
