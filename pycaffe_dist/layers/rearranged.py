"""Layers whose top has the bottom's values in another order, or some of them."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, Shape
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer


class Rearranged(Layer):
    """y = view(x);  ∂x: view(∂x) = ∂y, and 0 what the view leaves out.

    A subclass writes ``shape``, the top's shape for a bottom's, and ``view``: of an array in the
    bottom's shape, a view with the top's values in their order, each at most once.
    """

    everything = True  # each value of the bottom is in the view

    def shape(self, x: Shape) -> Sequence[int]:
        return x

    def view(self, x: Array) -> Array:
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        self.check(top[0].blob is not bottom[0].blob, "cannot work in place")
        top[0].reshape(*self.shape(bottom[0].shape))

    def forward(self, bottom: Views, top: Views) -> None:
        seen = self.view(bottom[0].data)
        top[0].data.reshape(seen.shape)[...] = seen

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx = bottom[0].diff
            if not self.everything:
                gx[...] = 0
            seen = self.view(gx)
            seen[...] = top[0].diff.reshape(seen.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
