"""The three products of a layer with weights, each as a primitive.

"gather" is from bottom to top, "spread" back to the bottom's gradient, "weights" the gradient of
weights and bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from pycaffe_dist.engines.onednn import library
from pycaffe_dist.engines.onednn.library import Arg
from pycaffe_dist.engines.onednn.primitives import Call, Primitive, runtime
from pycaffe_dist.memory import HOST, Array

# BLAS has threads of its own, which have to be woken while ours still spin.
BLAS_HANDICAP = 1.5
FLOAT = np.dtype(np.float32)
Role = tuple[int, int, int]  # argument, and where a primitive is asked for its layout


class Product(Protocol):
    """One of the three products: called with a room for each of its layouts."""

    name: str
    layouts: list[Any]

    @property
    def call(self) -> Callable[..., object]: ...


class AsPrimitive:
    """A product as a primitive."""

    def __init__(self, primitive: Primitive, roles: Sequence[Role]) -> None:
        self.name = primitive.implementation
        self.layouts = [primitive.layout(query, index) for _, query, index in roles]
        args = [(role[0], layout) for role, layout in zip(roles, self.layouts, strict=True)]
        self.call: Call = primitive.call(*args)


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


def ones(layout: Any) -> Array:
    """Pages that nobody wrote to would all be one page, in the cache."""
    room: Array = layout.allocate(layout.count, FLOAT)
    room.fill(1)
    return room


def trial_of(made: Product | None, converted: str = "") -> Callable[[], object]:
    """A run with made-up values.

    What training converts at every step counts too: ``load`` of weights that have changed, or
    ``store`` of their gradient.
    """
    assert made is not None
    rooms = [ones(x) for x in made.layouts]
    weights, room = made.layouts[1], rooms[1]
    if not converted or weights.home is HOST:
        return lambda: made.call(*rooms)
    host = np.zeros(weights.count, FLOAT)

    def run() -> None:
        made.call(*rooms)
        if converted == "load":
            weights.load(host, room)
        else:
            weights.store(room, host)

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
