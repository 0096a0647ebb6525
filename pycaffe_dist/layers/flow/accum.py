"""Accum of FlowNet 2: feature maps of several sizes brought to one, and put together."""

from __future__ import annotations

from collections.abc import Iterable

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.sampling import align_corners, resized


@register("Accum")
class Accum(Layer):
    """All bottoms at one size, by linear interpolation as Interp's, behind one another as channels.

    Bottoms (N, Cᵢ, hᵢ, wᵢ)  y: (N, Σ Cᵢ, H, W).  H and W are ``top_height`` and ``top_width``, or
    with ``have_reference`` those of the last bottom, of which nothing else is taken; or else the
    largest, brought up to a multiple of ``size_divisible_by``.
    ∂xᵢ = Aᵢᵀ ∂y Bᵢ, for the interpolations A and B.
    """

    bottoms = (1, None)

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.accum_param
        self.check(
            not p.have_reference or len(bottom) > 1, "have_reference needs two bottoms or more"
        )
        self.check(bool(p.top_height) == bool(p.top_width), "give both of top_height and top_width")

    def reshape(self, bottom: Views, top: Views) -> None:
        for view in bottom:
            self.check(
                len(view.shape) == 4 and view.shape[0] == bottom[0].shape[0],
                f"needs bottoms (N, C, H, W) of one N, found {[v.shape for v in bottom]}",
            )
        taken = self._taken(bottom)
        channels = [view.shape[1] for view in taken]
        self.ends = [sum(channels[: i + 1]) for i in range(len(channels))]
        height, width = self._size(bottom)
        top[0].reshape(bottom[0].shape[0], sum(channels), height, width)
        self.matrices = [
            [
                self.xp.asarray(align_corners(old, new, self.dtype))
                for old, new in zip(view.shape[2:], (height, width), strict=True)
            ]
            for view in taken
        ]

    def forward(self, bottom: Views, top: Views) -> None:
        for view, (down, across), part in self._parts(bottom):
            top[0].data[:, part] = resized(self.xp, view.data, down, across)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for view, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                view.diff[...] = 0  # a reference's stays so
        for (view, (down, across), part), wanted in zip(
            self._parts(bottom), propagate_down, strict=False
        ):
            if wanted:
                view.diff[...] = resized(self.xp, top[0].diff[:, part], down.T, across.T)

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * top[0].count

    def _taken(self, bottom: Views) -> Views:
        return bottom[:-1] if self.layer_param.accum_param.have_reference else bottom

    def _parts(self, bottom: Views) -> Iterable[tuple[View, list[Array], slice]]:
        """Each bottom that is taken, its interpolations, and its channels of the top."""
        parts = [slice(a, b) for a, b in zip([0, *self.ends], self.ends, strict=False)]
        return zip(self._taken(bottom), self.matrices, parts, strict=True)

    def _size(self, bottom: Views) -> tuple[int, int]:
        p = self.layer_param.accum_param
        if p.have_reference:
            height, width = bottom[-1].shape[2:]
            return height, width
        if p.top_height:
            return p.top_height, p.top_width
        step = p.size_divisible_by or 1
        sides = (max(view.shape[axis] for view in bottom) for axis in (2, 3))
        height, width = (-(-side // step) * step for side in sides)
        return height, width
