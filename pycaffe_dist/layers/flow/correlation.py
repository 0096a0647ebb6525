"""Correlation of FlowNet: how alike two feature maps are, for every displacement."""

from __future__ import annotations

from collections.abc import Iterator

from pycaffe_dist.aliases import Array, Index
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.neuron import sign
from pycaffe_dist.layers.work import Working

Window = tuple[slice, ...]  # in a map (N, C, H, W)


@register("Correlation")
class Correlation(Working):
    """y[n, d, i, j] = 1/(k²C) Σ a[n, c, p] · b[n, c, p + d], over channels and a k × k window at p.

    a, b: (N, C, H, W), both padded by ``pad``  y: (N, D², H′, W′), D = 2⌊m/stride_2⌋ + 1 for
    m = max_displacement: channel (r + dy)·D + r + dx is the displacement (dy, dx)·stride_2.
    Windows k = ``kernel_size`` wide stand ``stride_1`` apart, as far as every displacement has
    pixels.  SUBTRACT: |a − b| in the place of the product.
    ∂a[p] = Σ ∂y·b[p + d],  ∂b[p + d] = Σ ∂y·a[p], over k²C;  SUBTRACT: ± the sign of a − b.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.correlation_param
        self.pad, self.kernel, self.most = p.pad, p.kernel_size, p.max_displacement
        self.stride, self.step = p.stride_1, p.stride_2
        self.multiply = p.correlation_type == p.MULTIPLY
        self.check(self.kernel % 2 == 1, f"kernel_size must be odd, found {self.kernel}")
        self.check(min(self.stride, self.step) > 0, "stride_1 and stride_2 must be above 0")
        self.radius = self.most // self.step

    def reshape(self, bottom: Views, top: Views) -> None:
        a, b = bottom[0].shape, bottom[1].shape
        self.check(len(a) == 4, f"needs bottoms (N, C, H, W), found {a}")
        self.check(a == b, f"the bottoms must have one shape, found {a} and {b}")
        border = 2 * (self.most + self.kernel // 2)
        out = [-(-(size + 2 * self.pad - border) // self.stride) for size in a[2:]]
        self.check(
            min(out) > 0,
            f"max_displacement {self.most} leaves nothing of {a} with a pad of {self.pad}",
        )
        top[0].reshape(a[0], (2 * self.radius + 1) ** 2, *out)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, y = self.xp, top[0].data
        a, b = (self._padded(name, view.data) for name, view in zip("ab", bottom, strict=True))
        y[...] = 0
        for d, here, there in self.pairs(y.shape):
            if self.multiply:
                y[:, d] += xp.einsum("nchw,nchw->nhw", a[here], b[there])
            else:
                y[:, d] += abs(a[here] - b[there]).sum(axis=1)
        y *= self._share(bottom)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff * self._share(bottom)
        a, b = (self._padded(name, view.data) for name, view in zip("ab", bottom, strict=True))
        ga, gb = (self._room(name, a.shape) for name in ("ga", "gb"))
        for d, here, there in self.pairs(gy.shape):
            part = gy[:, d][:, None]
            if self.multiply:
                to_a, to_b = part * b[there], part * a[here]
            else:
                to_a = a[here] - b[there]
                sign(self.xp, to_a, to_a)
                to_a *= part
                to_b = -to_a
            if propagate_down[0]:
                ga[here] += to_a
            if propagate_down[1]:
                gb[there] += to_b
        for view, wanted, padded in zip(bottom, propagate_down, (ga, gb), strict=True):
            if wanted:
                view.diff[...] = padded[self._inner(view.shape)]

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * top[0].count * bottom[0].shape[1] * self.kernel**2

    def _share(self, bottom: Views) -> Array:
        return self.dtype.type(1 / (self.kernel**2 * bottom[0].shape[1]))

    def pairs(self, shape: tuple[int, ...]) -> Iterator[tuple[int, Window, Window]]:
        """Channel, pixels of a, pixels of b, for every displacement and place in the kernel."""
        moves = [self.step * d for d in range(-self.radius, self.radius + 1)]
        inside = [(i, j) for i in range(self.kernel) for j in range(self.kernel)]
        for channel, (dy, dx) in enumerate((dy, dx) for dy in moves for dx in moves):
            for i, j in inside:
                first = self.most + i, self.most + j
                here = self._window(shape, first)
                yield channel, here, self._window(shape, (first[0] + dy, first[1] + dx))

    def _window(self, shape: tuple[int, ...], first: tuple[int, int]) -> Window:
        sides = zip(first, shape[2:], strict=True)
        rows = (slice(at, at + (n - 1) * self.stride + 1, self.stride) for at, n in sides)
        return (slice(None), slice(None), *rows)

    def _inner(self, shape: tuple[int, ...]) -> Index:
        return (..., *(slice(self.pad, self.pad + size) for size in shape[2:]))

    def _padded(self, name: str, x: Array) -> Array:
        n, c, h, w = x.shape
        # Windows that begin at a last, partial stride reach over the padding.
        room = self._room(name, (n, c, *(size + 2 * self.pad + self.stride for size in (h, w))))
        room[self._inner(x.shape)] = x
        return room

    def _room(self, name: str, shape: tuple[int, ...]) -> Array:
        room = self.work(name, shape)
        room[...] = 0
        return room
