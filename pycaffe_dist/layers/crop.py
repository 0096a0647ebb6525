"""Crop: one blob cut to the size of another."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register


@register("Crop")
class Crop(Layer):
    """y = x[offset : offset + size], with the second bottom's sizes, from ``axis`` on.

    ∂x = ∂y inside and 0 outside; the second bottom gets no gradient.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.crop_param
        axis = bottom[0].axis(p.axis)
        cropped = len(bottom[0].shape) - axis
        self.check(
            len(p.offset) in (0, 1, cropped),
            f"{len(p.offset)} offsets for {cropped} cropped axes; give none, one, or one for each",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.crop_param
        shape, like = bottom[0].shape, bottom[1].shape
        axis = bottom[0].axis(p.axis)
        self.check(len(like) >= len(shape), f"cannot crop {shape} to the fewer axes of {like}")
        cropped = range(axis, len(shape))
        offsets = list(p.offset) or [0]
        if len(offsets) == 1:
            offsets *= len(cropped)
        for i, offset in zip(cropped, offsets, strict=True):
            self.check(
                offset + like[i] <= shape[i],
                f"axis {i}: offset {offset} and size {like[i]} reach beyond the {shape[i]} of "
                f"{shape}",
            )
        parts = [slice(o, o + like[i]) for i, o in zip(cropped, offsets, strict=True)]
        self.inside = (*[slice(None)] * axis, *parts)
        top[0].reshape(*shape[:axis], *like[axis : len(shape)])

    def forward(self, bottom: Views, top: Views) -> None:
        top[0].data[...] = bottom[0].data[self.inside]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gx = bottom[0].diff
            gx[...] = 0
            gx[self.inside] = top[0].diff

    def flops(self, bottom: Views, top: Views) -> int:
        return 0
