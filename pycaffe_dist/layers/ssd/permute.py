"""Permute: axes in another order."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


class Axes(Layer):
    """y = x with the axes in ``order``;  ∂x = ∂y with the axes put back.

    The axes are as many as at set-up.  If nothing moves, the top shares its memory with the bottom.
    """

    order: list[int]

    def reshape(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0], top[0]
        self.check(y.blob is not x.blob, "cannot work in place")
        self.check(
            len(x.shape) == len(self.order),
            f"was set up for {len(self.order)} axes, the bottom has the shape {x.shape}",
        )
        y.reshape(*(x.shape[i] for i in self.order))
        self.moves = self.order != sorted(self.order)
        if not self.moves:
            y.share_data(x)
            y.share_diff(x)

    def forward(self, bottom: Views, top: Views) -> None:
        if self.moves:
            top[0].data[...] = bottom[0].data.transpose(*self.order)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self.moves and propagate_down[0]:
            back = [int(i) for i in np.argsort(self.order)]
            bottom[0].diff[...] = top[0].diff.transpose(*back)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("Permute")
class Permute(Axes):
    """The axes that ``order`` names come first, then all others as they are."""

    def setup(self, bottom: Views, top: Views) -> None:
        count = len(bottom[0].shape)
        given = [*self.layer_param.permute_param.order]
        self.check(
            len(set(given)) == len(given) and all(i < count for i in given),
            f"order must have different axes below {count}, found {given}",
        )
        self.order = given + [i for i in range(count) if i not in given]
