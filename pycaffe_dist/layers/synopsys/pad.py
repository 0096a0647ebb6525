"""Pad and MirrorPad: a border around the bottom's values."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.proto.caffe_pb2 import MirrorPadParameter, PadParameter

# How many of an axis's values cannot be in a border; None if a border may be any length.
MODES = {"CONSTANT": None, "EDGE": None, "SYMMETRIC": 0, "REFLECT": 1}
PadMode = Literal["edge", "symmetric", "reflect"]
PADDED: dict[str, PadMode] = {"EDGE": "edge", "SYMMETRIC": "symmetric", "REFLECT": "reflect"}
Margin = tuple[int, int]  # how much an axis gets before its values, and behind them


@register("Pad")
class Pad(Layer):
    """y = x inside, ``constant_values`` around it;  ∂x = ∂y inside.

    ``paddings``: for each axis, how much is put before the values and behind them.
    """

    param: PadParameter | MirrorPadParameter

    def setup(self, bottom: Views, top: Views) -> None:
        self.param = self.layer_param.pad_param

    def reshape(self, bottom: Views, top: Views) -> None:
        shape, given = bottom[0].shape, [*self.param.paddings]
        self.check(
            len(given) == 2 * len(shape),
            f"the bottom {shape} needs {2 * len(shape)} paddings, two for each axis; found "
            f"{len(given)}",
        )
        self.margins: list[Margin] = [*zip(given[::2], given[1::2], strict=True)]
        sizes = [*zip(self.margins, shape, strict=True)]
        self.inside = tuple(slice(before, before + size) for (before, _), size in sizes)
        top[0].reshape(*(before + size + behind for (before, behind), size in sizes))

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        y[...] = self.param.constant_values
        y[self.inside] = bottom[0].data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff[self.inside]

    def flops(self, bottom: Views, top: Views) -> int:
        return 0


@register("MirrorPad")
class MirrorPad(Pad):
    """As Pad, with x's own values in the border: ∂x is the sum of ∂y over all copies of a value.

    ``mode``: REFLECT mirrors at the last value, SYMMETRIC behind it, EDGE repeats the last value,
    CONSTANT is Pad.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        self.param = self.layer_param.mirror_pad_param
        self.mode = self.param.mode
        self.check(
            self.mode in MODES,
            f"mode must be one of {', '.join(MODES)}, found {self.mode!r}",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        shape, least = bottom[0].shape, MODES[self.mode]
        self.copies: list[tuple[int, Array, Array]] = []
        for axis, (margin, size) in enumerate(zip(self.margins, shape, strict=True)):
            self.check(
                least is None or max(margin) <= size - least,
                f"axis {axis} of the bottom {shape} is too short for {self.mode} paddings {margin}",
            )
            if any(margin) and self.mode != "CONSTANT":
                self.copies.append((axis, *self._copied(size, margin)))

    def _copied(self, size: int, margin: Margin) -> tuple[Array, Array]:
        """Along an axis of the top, the places of the border, and the places whose values go there.

        Axes are filled one behind the other, so that corners are copied twice.
        """
        before, behind = margin
        values = np.arange(before, before + size)
        source = np.pad(values, margin, PADDED[self.mode])
        places = np.r_[:before, before + size : before + size + behind]
        return self.xp.asarray(places), self.xp.asarray(source[places])

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        for axis, places, source in self.copies:
            y = self.xp.moveaxis(top[0].data, axis, 0)
            y[places] = y[source]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            total = top[0].diff.copy()
            for axis, places, source in reversed(self.copies):
                gy = self.xp.moveaxis(total, axis, 0)
                self.xp.add.at(gy, source, gy[places])
            bottom[0].diff[...] = total[self.inside]
