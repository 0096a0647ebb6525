"""oneDNN's batch normalisation in one layout, as BatchNorm, Scale, Bias and chains of them use it.

A Scale is a normalisation too: one whose mean is 0 and whose variance is 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.blocks import blocked
from pycaffe_dist.engines.onednn.core.library import BACKWARD, INFERENCE, TRAINING, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, Primitive, plain
from pycaffe_dist.memory import aligned

GLOBAL, SCALE, SHIFT, RELU = 1, 2, 4, 8  # flags
MOST_AXES = 5


class Normalisation:
    """y = s·(x − μ)/√(σ² + eps) + b, and the larger of that and 0 with RELU.

    x, y: (N, C, …)  μ, σ², s, b: (C,).  μ and σ² are given with GLOBAL, else those of the batch
    and written; s is there with SCALE, b with SHIFT.

    Args:
        training: whether a backward pass will follow.
        given: μ and σ² are given, but the batch's own: the gradient goes through them.
    """

    def __init__(
        self, layout: Layout, eps: float, flags: int, training: bool, given: bool = False
    ) -> None:
        self.layout = layout
        self.scaled, self.shifted = bool(flags & SCALE), bool(flags & SHIFT)
        kind = TRAINING if training else INFERENCE
        self._forward = _primitive("forward", kind, [layout] * 2, eps, flags | GLOBAL * given)
        self.is_fast = "jit" in self._forward.implementation
        c = plain((layout.dims[1],))
        operands = [(Arg.SCALE, c)] * self.scaled + [(Arg.SHIFT, c)] * self.shifted
        size = self._forward.size_of(library.WORKSPACE)
        self._workspace = [aligned(-(-size // 4), np.dtype(np.float32))] if size else []
        passed = [(Arg.WORKSPACE, self._forward.descriptor(library.WORKSPACE))] if size else []
        ins = (Arg.SRC, layout), (Arg.MEAN, c), (Arg.VARIANCE, c)
        self._run = self._forward.call(*ins, *operands, *passed, (Arg.DST, layout))
        if not training:
            return
        hint = _primitive("forward", kind, [layout] * 2, eps, flags) if given else self._forward
        back = _primitive("backward", BACKWARD, [layout] * 3, eps, flags, hint.pd)
        gradients = [(Arg.DIFF_SCALE, c)] * self.scaled + [(Arg.DIFF_SHIFT, c)] * self.shifted
        # What is to be added to the gradients of s and b, after each backward pass.
        self.gradients = [aligned(c.count, np.dtype(np.float32)) for _ in gradients]
        outs = (Arg.DIFF_DST, layout), (Arg.DIFF_SRC, layout), *gradients
        self._run_back = back.call(*ins, *operands[: self.scaled], *passed, *outs)

    def forward(
        self, x: Array, y: Array, statistics: Sequence[Array], operands: Sequence[Array] = ()
    ) -> None:
        """Operands: s and b, those that there are.  x and y may be one room."""
        self._run(x, *statistics, *operands, *self._workspace, y)

    def backward(
        self,
        x: Array,
        gy: Array,
        gx: Array,
        statistics: Sequence[Array],
        operands: Sequence[Array] = (),
    ) -> None:
        """Write gx, which may be the room of gy, and ``gradients``."""
        scale = operands[: self.scaled]
        self._run_back(x, *statistics, *scale, *self._workspace, gy, gx, *self.gradients)


def normalisation(
    layout: Layout, eps: float, flags: int, training: bool, given: bool = False
) -> Normalisation:
    """In the layout of x; in blocks if that is slow, though x must be brought there."""
    slow = None
    for place in (layout, *(blocked(layout.dims, block, layout.kind) for block in (16, 8))):
        if place is not None:
            try:
                made = Normalisation(place, eps, flags, training, given)
            except OneDnnError:
                continue
            if made.is_fast:
                return made
            slow = slow or made
    return slow or Normalisation(plain(layout.dims), eps, flags, training, given)


def _primitive(
    which: str, kind: int, layouts: Sequence[Layout], eps: float, flags: int, *hint: int
) -> Primitive:
    mds = [layout.md for layout in layouts]
    made = Primitive(f"batch_normalization_{which}", kind, *mds, eps, flags, *hint)
    if made.implementation.startswith("ref"):
        raise OneDnnError("no fast normalisation for this layout")
    return made


def channel_dims(shape: Dims) -> Dims:
    """A shape (N, C, …) with no more axes than a normalisation can have."""
    if len(shape) <= MOST_AXES:
        return shape
    return (*shape[:2], int(np.prod(shape[2:])))
