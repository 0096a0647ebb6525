"""Reorg of YOLOv2: pixels of a square become channels, in Darknet's order."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Reorg")
class Reorg(Layer):
    """x: (N, C, H, W) to y: (N, C·s², H/s, W/s), s = ``stride``;  ∂x: the same way back.

    The values of an item are taken as (C/s², H, s, W, s) and put down as (s, s, C/s², H, W): not
    the usual space-to-depth, but what Darknet's weights were trained with.  With ``reverse`` the
    same is done backwards: y is (N, C/s², H·s, W·s).
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.reorg_param
        self.stride, self.reverse = p.stride, p.reverse
        self.check(self.stride > 0, f"stride must be above 0, found {self.stride}")

    def reshape(self, bottom: Views, top: Views) -> None:
        shape, s = bottom[0].shape, self.stride
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        n, c, h, w = shape
        self.check(
            c % (s * s) == 0, f"the {c} channels of {shape} are no multiple of stride² {s * s}"
        )
        self.check(
            self.reverse or (h % s == 0 and w % s == 0),
            f"height and width of {shape} are no multiples of the stride {s}",
        )
        new = (c // (s * s), h * s, w * s) if self.reverse else (c * s * s, h // s, w // s)
        top[0].reshape(n, *new)
        self.squares = n, c // (s * s), h, s, w, s

    def forward(self, bottom: Views, top: Views) -> None:
        self._move(bottom[0].data, top[0].data, self.reverse)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            self._move(top[0].diff, bottom[0].diff, not self.reverse)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _move(self, source: Array, target: Array, back: bool) -> None:
        n, c, h, s, w, _ = self.squares
        planes = (n, s, s, c, h, w)
        if back:
            target.reshape(self.squares)[...] = source.reshape(planes).transpose(0, 3, 4, 1, 5, 2)
        else:
            target.reshape(planes)[...] = source.reshape(self.squares).transpose(0, 3, 5, 1, 2, 4)
