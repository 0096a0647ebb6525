"""Element by element: sums, products, comparisons and copies of rooms in one layout."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence

from pycaffe_dist.engines.onednn.core.library import INFERENCE, Arg
from pycaffe_dist.engines.onednn.core.primitives import Call, Dims, Layout, Primitive
from pycaffe_dist.engines.onednn.core.started import PostOp, runtime

ADD, MULTIPLY, MAXIMUM, DIVIDE = 0x1FFF0, 0x1FFF1, 0x1FFF2, 0x1FFF4
GREATER_EQUAL, LESS = 0x1FFF6, 0x1FFF9  # 1 where it holds, 0 elsewhere; of NaN 1 and 0
POST_OPERATION = 0x8000  # times (i + 1): the arguments of the post-operation i
MOST_AXES = 5

PostOps = tuple[PostOp, ...]
SUM: PostOp = ("sum", 1.0, 0, 0)  # a post-operation: to what the target holds


def fold(layout: Layout, algorithms: Sequence[int], post_ops: PostOps = ()) -> Call:
    """Prepare y = ((x₁ ∘ x₂) ∘ x₃) ..., one algorithm for each ∘; called with x₁, x₂, ..., y.

    All in one pass over memory.  x₁ and y may be one room.
    """
    first, *rest = algorithms
    chain = [("binary", algorithm, layout.md) for algorithm in rest]
    made = Primitive("binary", first, *[layout.md] * 3, post_ops=[*chain, *post_ops])
    more = [(POST_OPERATION * (i + 1) | Arg.SRC_1, layout) for i in range(len(rest))]
    return made.call((Arg.SRC, layout), (Arg.SRC_1, layout), *more, (Arg.DST, layout))


def weighted_sum(layout: Layout, weights: Sequence[float]) -> Call:
    """Prepare y = Σ wᵢ xᵢ; called with x₁, x₂, ..., y."""
    count = len(weights)
    mds = (ctypes.c_void_p * count)(*[layout.md] * count)
    made = Primitive("sum", layout.md, count, (ctypes.c_float * count)(*weights), mds)
    inputs = [(Arg.MULTIPLE_SRC + i, layout) for i in range(count)]
    return made.call(*inputs, (Arg.DST, layout))


def copy(source: Layout, target: Layout) -> Call:
    """Prepare y = x; called with x, y."""
    engine = runtime().engine
    made = Primitive("reorder", source.md, engine, target.md, engine, engine=False)
    return made.call((Arg.SRC, source), (Arg.DST, target))


def element_dims(shape: Dims) -> Dims:
    """A shape, flat if it has more axes than most layers write, or none."""
    return shape if 1 <= len(shape) <= MOST_AXES else (math.prod(shape),)


def activation(layout: Layout, post_op: PostOp) -> Call:
    """What an ``eltwise`` post-operation does, on its own; called with x, y, which may be one."""
    _, algorithm, alpha, beta = post_op
    args = INFERENCE, algorithm, layout.md, layout.md, alpha, beta
    return Primitive("eltwise_forward", *args).call((Arg.SRC, layout), (Arg.DST, layout))


def relu_slope(post_ops: PostOps) -> float | None:
    """Of the ReLU among the post-operations, if one is."""
    slopes = [float(post_op[2]) for post_op in post_ops if post_op != SUM]
    return slopes[0] if slopes else None
