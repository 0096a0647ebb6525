"""Interp: an image at another size, by linear interpolation."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.sampling import align_corners, resized


@register("Interp")
class Interp(Layer):
    """y = A x Bᵀ for every plane, A and B linear interpolations;  ∂x = Aᵀ ∂y B.

    x: (N, C, H, W)  y: (N, C, H′, W′), whose outermost values are the outermost pixels of x.
    With a negative ``pad_beg`` or ``pad_end`` so many rows and columns are cut off first.
    H′ is (H − 1)/s + 1 with ``shrink_factor`` s, or H + (H − 1)(z − 1) with ``zoom_factor`` z.
    With neither or both of them it is ``height``, if ``width`` is given too; else what one makes of
    the other's, or H·f with ``full_zoom_factor`` f.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.interp_param
        self.check(
            p.pad_beg <= 0 and p.pad_end <= 0,
            f"pad_beg and pad_end cut off: give 0 or less, found {p.pad_beg} and {p.pad_end}",
        )
        for name in ("height", "width", "zoom_factor", "shrink_factor", "full_zoom_factor"):
            self.check(
                not p.HasField(name) or getattr(p, name) > 0, f"{name} must be above 0, found 0"
            )

    def reshape(self, bottom: Views, top: Views) -> None:
        p, shape = self.layer_param.interp_param, bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        h, w = (size + p.pad_beg + p.pad_end for size in shape[2:])
        self.check(
            min(h, w) > 0, f"pad_beg {p.pad_beg} and pad_end {p.pad_end} leave nothing of {shape}"
        )
        self.kept = tuple(slice(-p.pad_beg, -p.pad_beg + size) for size in (h, w))
        top[0].reshape(*shape[:2], *self._size(h, w))
        self.matrices = [
            self.xp.asarray(align_corners(old, new, self.dtype))
            for old, new in zip((h, w), top[0].shape[2:], strict=True)
        ]

    def forward(self, bottom: Views, top: Views) -> None:
        rows, columns = self.kept
        x = bottom[0].data[..., rows, columns]
        top[0].data[...] = resized(self.xp, x, *self.matrices)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx, (rows, columns), (down, across) = bottom[0].diff, self.kept, self.matrices
            gx[...] = 0
            gx[..., rows, columns] = resized(self.xp, top[0].diff, down.T, across.T)

    def flops(self, bottom: Views, top: Views) -> int:
        return 8 * top[0].count

    def _size(self, h: int, w: int) -> tuple[int, int]:
        p = self.layer_param.interp_param
        zoom, shrink = p.HasField("zoom_factor"), p.HasField("shrink_factor")
        if zoom == shrink and p.HasField("height") and p.HasField("width"):
            return p.height, p.width
        if not zoom and not shrink:
            self.check(
                p.HasField("full_zoom_factor"),
                "give height and width, zoom_factor, shrink_factor or full_zoom_factor",
            )
            return h * p.full_zoom_factor, w * p.full_zoom_factor

        def scaled(size: int) -> int:
            size = (size - 1) // p.shrink_factor + 1 if shrink else size
            return size + (size - 1) * (p.zoom_factor - 1) if zoom else size

        return scaled(h), scaled(w)
