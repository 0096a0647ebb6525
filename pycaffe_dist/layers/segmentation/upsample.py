"""Upsample, twice: SegNet's, which undoes a max pooling, and YOLO's, which repeats pixels."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Arity, Layer, register
from pycaffe_dist.layers.work import planes


class Unpool(Layer):
    """y = 0 but y[mask] = x;  ∂x = ∂y[mask].

    x, mask: (N, C, h, w)  y: (N, C, H, W).  The mask is the second top of a max Pooling: places
    h·W + w in its channel.  Where several point to one place the last counts.
    """

    bottoms: Arity = 2
    label_bottoms = (1,)

    def size(self, bottom: Views) -> tuple[int, int]:
        """H and W."""
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        x, mask = bottom[0].shape, bottom[1].shape
        self.check(len(x) == 4, f"needs a bottom (N, C, H, W), found {x}")
        self.check(x == mask, f"the mask must have the shape of the first bottom, {x}: {mask}")
        top[0].reshape(*x[:2], *self.size(bottom))

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        y[...] = 0
        y.reshape(-1)[self._places(bottom, y.shape)] = bottom[0].data.reshape(-1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[1]:
            bottom[1].diff[...] = 0  # the mask is asked for one where its Pooling learns
        if propagate_down[0]:
            gx, gy = bottom[0].diff, top[0].diff
            gx[...] = gy.reshape(-1)[self._places(bottom, gy.shape)].reshape(gx.shape)

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _places(self, bottom: Views, shape: tuple[int, ...]) -> Array:
        """Where in the top each value goes."""
        mask, pixels = planes(bottom[1].data), shape[2] * shape[3]
        fine = (mask >= 0) & (mask < pixels)
        if not fine.all():
            at = int(fine.argmin())
            place = tuple(int(i) for i in np.unravel_index(at, bottom[1].shape))
            raise self.error(
                f"the mask {float(mask.reshape(-1)[at]):g} at {place} is not a pixel of the "
                f"{shape[2]} × {shape[3]} output; is the size that of the Pooling's bottom?"
            )
        channel = self.xp.arange(mask.shape[0] * mask.shape[1]).reshape(*mask.shape[:2], 1)
        return (mask.astype(np.int64) + channel * pixels).reshape(-1)


@register(
    "Upsample",
    dialect="segnet",
    when=lambda param: len(param.bottom) > 1,
    why="it has a second bottom, the mask",
)
class SegNetUpsample(Unpool):
    """Undoes a max pooling: y[mask] = x.

    H is ``upsample_h``, or h·scale_h − 1 with ``pad_out_h`` and else h·scale_h; so W.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.upsample_param
        self.given = (p.upsample_h, p.upsample_w) if p.HasField("upsample_h") else None
        self.check(
            p.HasField("upsample_h") == p.HasField("upsample_w"),
            "give both of upsample_h and upsample_w",
        )
        self.check(not self.given or min(self.given) > 1, f"{self.given} is no size to upsample to")
        sides = p.HasField("scale_h"), p.HasField("scale_w")
        self.check(all(sides) or not any(sides), "give either scale or both of scale_h and scale_w")
        scale = p.scale if p.HasField("scale") else 2
        self.scale = (p.scale_h, p.scale_w) if all(sides) else (scale, scale)
        self.pad = p.pad_out_h, p.pad_out_w
        self.check(
            not any(self.pad) or self.given is not None or self.scale == (2, 2),
            f"pad_out_h and pad_out_w are for a scale of 2, found {self.scale}",
        )

    def size(self, bottom: Views) -> tuple[int, int]:
        if self.given:
            return self.given
        h, w = (
            size * scale - pad
            for size, scale, pad in zip(bottom[0].shape[2:], self.scale, self.pad, strict=True)
        )
        return h, w


@register("Upsample", dialect="yolo")
class NearestUpsample(Layer):
    """y[…, i, j] = x[…, ⌊i/scale⌋, ⌊j/scale⌋];  ∂x = Σ ∂y over each scale × scale square."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.upsample_param
        for name in ("scale_h", "scale_w", "pad_out_h", "pad_out_w", "upsample_h", "upsample_w"):
            self.check(not p.HasField(name), f"{name} is for one with a mask, as its second bottom")
        self.scale = p.scale if p.HasField("scale") else 1
        self.check(self.scale > 0, f"scale must be above 0, found {self.scale}")

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        top[0].reshape(*shape[:2], *(size * self.scale for size in shape[2:]))

    def forward(self, bottom: Views, top: Views) -> None:
        self._squares(top[0].data)[...] = bottom[0].data[:, :, :, None, :, None]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            bottom[0].diff[...] = self.xp.einsum("nchiwj->nchw", self._squares(top[0].diff))

    def flops(self, bottom: Views, top: Views) -> int:
        return 0

    def _squares(self, y: Array) -> Array:
        """(N, C, H′, W′) as (N, C, H, scale, W, scale)."""
        n, c, h, w = y.shape
        return y.reshape(n, c, h // self.scale, self.scale, w // self.scale, self.scale)
