"""Tile: a blob repeated along an axis."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Tile")
class Tile(Layer):
    """y = x, ``tiles`` times one behind the other along ``axis``;  ∂x = Σ of ∂y over the tiles."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.tile_param
        self.check(p.HasField("tiles"), "needs tiles, how often to repeat the bottom")
        self.check(p.tiles > 0, f"tiles must be above 0, found {p.tiles}")
        self.tiles = p.tiles

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0]
        axis = x.axis(self.layer_param.tile_param.axis)
        self.outer, self.inner = x.count_from(0, axis), x.count_from(axis)
        top[0].reshape(*x.shape[:axis], x.shape[axis] * self.tiles, *x.shape[axis + 1 :])

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data.reshape(self.outer, self.tiles, self.inner)
        y[...] = bottom[0].data.reshape(self.outer, 1, self.inner)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gy = top[0].diff.reshape(self.outer, self.tiles, self.inner)
            self.xp.sum(gy, axis=1, out=bottom[0].diff.reshape(self.outer, self.inner))

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
