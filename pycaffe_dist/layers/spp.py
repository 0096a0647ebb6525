"""SPP: spatial pyramid pooling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.pooling import Pooling
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, PoolingParameter, SPPParameter

METHODS = {
    SPPParameter.MAX: PoolingParameter.MAX,
    SPPParameter.AVE: PoolingParameter.AVE,
    SPPParameter.STOCHASTIC: PoolingParameter.STOCHASTIC,
}


@register("SPP")
class SPP(Layer):
    """x: (N, C, H, W) pooled over 1, 2², 4², ... bins, side by side: y: (N, C·Σ bins).

    Level i has 2ⁱ × 2ⁱ bins of ⌈H / 2ⁱ⌉ × ⌈W / 2ⁱ⌉ pixels; a single level is not flattened.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.height = self.layer_param.spp_param.pyramid_height
        self.check(self.height > 0, "pyramid_height must be above 0")
        self.pooled: tuple[int, ...] = ()  # the bottom's shape that the pools are for
        self.pools: list[Pooling] = []
        self.levels: list[View] = []  # their tops

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(
            len(shape) == 4 and min(shape[2:]) > 0,
            f"needs a bottom (N, C, H, W) with pixels, found {shape}",
        )
        if shape != self.pooled:
            self._build(bottom)
            self.pooled = shape
        self.flat = (shape[0], sum(level.count_from(1) for level in self.levels))
        top[0].reshape(*(self.flat if self.height > 1 else self.levels[0].shape))

    def _build(self, bottom: Views) -> None:
        home = self.context.home
        self.pools = [self._pool(i, *bottom[0].shape[2:]) for i in range(self.height)]
        self.levels = [View(Blob((), self.dtype), home, "data") for _ in self.pools]
        for pool, level in zip(self.pools, self.levels, strict=True):
            pool.set_up(bottom, [level])
        self.share = View(Blob(bottom[0].shape, self.dtype), home, "diff")

    def _pool(self, level: int, height: int, width: int) -> Pooling:
        bins = 1 << level
        self.check(level < 31, f"pyramid_height {self.height} has more bins than any image pixels")
        param = LayerParameter(name=f"{self.name}_pool{level}", phase=self.phase)
        p = param.pooling_param
        p.pool = METHODS[self.layer_param.spp_param.pool]
        p.kernel_h, p.kernel_w = p.stride_h, p.stride_w = -(-height // bins), -(-width // bins)
        p.pad_h = (p.kernel_h * bins - height + 1) // 2
        p.pad_w = (p.kernel_w * bins - width + 1) // 2
        kind = self.context.engine.layer_class("Pooling", Pooling)
        return cast(Pooling, kind(param, self.context))

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data.reshape(self.flat)
        for pool, level, part in self._levels():
            pool.forward(bottom, [level])
            y[:, part] = level.data.reshape(len(y), -1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        gy = top[0].diff.reshape(self.flat)
        for pool, level, part in self._levels():
            gradient = View(level.blob, level.home, "diff").diff
            gradient[...] = gy[:, part].reshape(level.shape)
            if pool is self.pools[0]:
                pool.backward([level], [True], bottom)
            else:
                pool.backward([level], [True], [self.share])
                total = bottom[0].diff
                total += self.share.diff

    def flops(self, bottom: Views, top: Views) -> int:
        levels = zip(self.pools, self.levels, strict=True)
        return sum(pool.flops(bottom, [level]) for pool, level in levels)

    def _levels(self) -> Iterator[tuple[Pooling, View, slice]]:
        """Each pool, its top, and where that stands in ours."""
        begin = 0
        for pool, level in zip(self.pools, self.levels, strict=True):
            end = begin + level.count_from(1)
            yield pool, level, slice(begin, end)
            begin = end
