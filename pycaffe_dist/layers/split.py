"""Split: one blob for several readers; inserted by the net where it is needed."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Split")
class Split(Layer):
    """yᵢ = x, sharing its memory;  ∂x = Σ ∂yᵢ."""

    tops = (1, None)

    def reshape(self, bottom: Views, top: Views) -> None:
        for view in top:
            self.check(
                view.blob is not bottom[0].blob,
                "cannot work in place: each reader has a gradient of its own",
            )
            view.reshape_like(bottom[0])
            view.share_data(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        pass

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        total = bottom[0].diff
        if len(top) == 1:
            total[...] = top[0].diff
            return
        self.xp.add(top[0].diff, top[1].diff, out=total)
        for view in top[2:]:
            total += view.diff

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
