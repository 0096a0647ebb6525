"""Flip."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, Shape
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rearranged import Rearranged


@register("Flip")
class Flip(Rearranged):
    """Each image (H, W) mirrored: left and right with ``flip_width``, also with ``flip_height``."""

    def shape(self, x: Shape) -> Sequence[int]:
        self.check(len(x) == 4, f"needs a bottom (N, C, H, W), found {x}")
        return x

    def view(self, x: Array) -> Array:
        p = self.layer_param.flip_param
        rows, columns = (slice(None, None, -1 if f else 1) for f in (p.flip_height, p.flip_width))
        return x[:, :, rows, columns]
