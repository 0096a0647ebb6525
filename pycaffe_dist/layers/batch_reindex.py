"""BatchReindex: items of a batch in another order, some left out, some repeated."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("BatchReindex")
class BatchReindex(Layer):
    """yᵢ = x[pᵢ];  ∂x[j] = Σ ∂yᵢ over all i with pᵢ = j.

    x: (N, ...)  p: (M,), from 0 to N − 1  y: (M, ...)
    """

    bottoms = 2

    def reshape(self, bottom: Views, top: Views) -> None:
        x, p = bottom
        self.check(len(p.shape) == 1, f"the indices must have one axis, found {p.shape}")
        self.check(len(x.shape) > 0, "needs a bottom with at least one axis")
        top[0].reshape(*p.shape, *x.shape[1:])

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = bottom[0].data[self._indices(bottom)]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[1], "cannot give its indices a gradient")
        if propagate_down[0]:
            bottom[0].diff[...] = 0
            self.xp.add.at(bottom[0].diff, self._indices(bottom), top[0].diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _indices(self, bottom: Views) -> Array:
        indices, num = bottom[1].data, bottom[0].shape[0]
        fine = (indices >= 0) & (indices < num)
        if not fine.all():
            at = int(fine.argmin())
            raise self.error(f"index {float(indices[at]):g} at {at} is not one of the {num} items")
        return indices.astype(np.intp)
