"""Filter: the items of a batch that a selector picks."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Filter")
class Filter(Layer):
    """Each top is its bottom without the items whose selector, the last bottom, is 0.

    xᵢ: (N, ...)  selector: (N, 1, ...)  yᵢ: (M, ...) with M the items picked, N until the first
    forward.  The items left out get a gradient of 0.
    """

    bottoms = (2, None)
    tops = (1, None)
    changes_batch = True

    def setup(self, bottom: Views, top: Views) -> None:
        self.check(
            len(top) == len(bottom) - 1,
            f"{len(bottom)} bottoms (the last is the selector) need {len(bottom) - 1} tops, "
            f"found {len(top)}",
        )
        self.shaped = False

    def reshape(self, bottom: Views, top: Views) -> None:
        *items, selector = bottom
        self.check(
            len(selector.shape) > 0 and all(d == 1 for d in selector.shape[1:]),
            f"the selector must have the shape (N,) or (N, 1, ...), found {selector.shape}",
        )
        num = selector.shape[0]
        for view in items:
            self.check(
                view.shape[:1] == (num,),
                f"the selector is for {num} items, a bottom has the shape {view.shape}",
            )
        # Values decide on the shape, and before the first forward there are none.
        if self.shaped and not self.context.dry:
            num = len(self._picked(bottom))
        self.shaped = True
        for x, y in zip(items, top, strict=True):
            y.reshape(num, *x.shape[1:])

    def forward(self, bottom: Views, top: Views) -> None:
        picked = self._picked(bottom)
        for x, y in zip(bottom[:-1], top, strict=True):
            y.data[...] = x.data[picked]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[-1], "cannot give its selector a gradient")
        picked = self._picked(bottom)
        for i, view in enumerate(top):
            if propagate_down[i]:
                bottom[i].diff[...] = 0
                bottom[i].diff[picked] = view.diff

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _picked(self, bottom: Views) -> Array:
        return self.xp.flatnonzero(bottom[-1].data)
