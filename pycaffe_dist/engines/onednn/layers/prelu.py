"""PReLU by oneDNN's primitive, for a slope per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.accelerated import (
    Accelerated,
    accelerates,
    add_gradient,
    gradient_room,
    layout_of,
)
from pycaffe_dist.engines.onednn.core.kept import Kept
from pycaffe_dist.engines.onednn.core.library import TRAINING, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Call, Dims, Layout, Primitive, anyhow
from pycaffe_dist.engines.onednn.layers.neurons import finite
from pycaffe_dist.layers import prelu as generic
from pycaffe_dist.layers.work import planes


@dataclass
class Made:
    """The two passes for one layout of x and y."""

    layout: Layout
    slopes: Layout
    forward: Call
    backward: Call


@accelerates("PReLU")
class PReLU(Accelerated, generic.PReLU):
    __doc__ = generic.PReLU.__doc__

    def prepare(self, bottom: Views, top: Views) -> None:
        if not self.params[0].shape:
            raise OneDnnError("one slope for all channels is left to NumPy")
        self._input = Kept()
        self._made: dict[Layout, Made] = {}
        self._used = self._passes(bottom)

    def fast_forward(self, bottom: Views, top: Views) -> None:
        made = self._used = self._passes(bottom)
        x, y, home = bottom[0].blob.data_value, top[0].blob.data_value, made.layout.home
        if x is not y:
            source, target = x.read(home), y.replace(home)
        elif self.needs_backward:
            source, target = self._input.swap(x, made.layout)
        else:
            source = target = x.write(home)
        made.forward(source, self.params[0].data_value.read(made.slopes.home), target)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        learns = self.param_propagate_down[0]
        if not (learns or propagate_down[0]):
            return
        made, x, y = self._used, bottom[0].blob, top[0].blob
        home = made.layout.home
        source = self._input.found(x.data_value, home)
        if not finite(source[: made.layout.length]):
            self._propagate_plainly(source, top, propagate_down, bottom)
            return
        slopes = self.params[0].data_value.read(made.slopes.home)
        above = y.diff_value.read(home)
        if not propagate_down[0]:
            below = self.work("unused", (made.layout.length,))
        elif x.diff_value is y.diff_value:
            below = x.diff_value.write(home)
        else:
            below = x.diff_value.replace(home)
        if learns:
            room, apart = gradient_room(self.params[0].blob, made.slopes)
        else:
            room, apart = made.slopes.allocate(made.slopes.count, self.dtype), False
        made.backward(source, slopes, above, below, room)
        self._input.give_back()
        if apart:
            add_gradient(self.params[0].blob, made.slopes, room)

    def _propagate_plainly(
        self, source: Array, top: Views, propagate_down: Flags, bottom: Views
    ) -> None:
        """By NumPy: what the primitive makes of NaN and ∞ is not Caffe's answer."""
        x = np.empty(bottom[0].shape, self.dtype)
        self._used.layout.store(source, x.reshape(-1))
        gx = planes(bottom[0].diff) if propagate_down[0] else None
        self.propagate(planes(x), planes(top[0].diff), gx)
        self._input.give_back()

    def _passes(self, bottom: Views) -> Made:
        """For the layout in which the bottom is now."""
        dims = bottom[0].shape
        layout = layout_of(bottom[0].blob.data_value, dims)
        if layout not in self._made:
            self._made[layout] = _make(layout, (1, dims[1], *[1] * (len(dims) - 2)))
        return self._made[layout]


def _make(layout: Layout, dims: Dims) -> Made:
    md = layout.md
    forward = Primitive("prelu_forward", TRAINING, md, anyhow(dims), md)
    slopes = forward.layout(library.WEIGHTS)
    backward = Primitive("prelu_backward", md, slopes.md, md, slopes.md, md, forward.pd)
    for made in (forward, backward):
        if "ref" in made.implementation:
            raise OneDnnError("there is only a reference implementation")
    given = (Arg.SRC, layout), (Arg.WEIGHTS, slopes)
    down = (Arg.DIFF_DST, layout), (Arg.DIFF_SRC, layout), (Arg.DIFF_WEIGHTS, slopes)
    calls = forward.call(*given, (Arg.DST, layout)), backward.call(*given, *down)
    return Made(layout, slopes, *calls)
