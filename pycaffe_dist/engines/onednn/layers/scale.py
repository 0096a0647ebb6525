"""Scale and Bias by oneDNN's batch normalisation, where there is one number for each channel."""

from __future__ import annotations

from functools import cache

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.chains import by_channel
from pycaffe_dist.engines.onednn.core.accelerated import (
    Accelerated,
    accelerates,
    in_place,
    layout_of,
)
from pycaffe_dist.engines.onednn.core.kept import Kept
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Layout
from pycaffe_dist.engines.onednn.layers.normalisation import (
    GLOBAL,
    SCALE,
    SHIFT,
    Normalisation,
    channel_dims,
    normalisation,
)
from pycaffe_dist.layers import bias as generic_bias
from pycaffe_dist.layers import scale as generic_scale
from pycaffe_dist.memory import Value, aligned

EPS = 1e-10  # does not change a variance of 1, but that of 0 which channels of padding have


@cache
def unmoved(channels: int) -> tuple[Array, Array]:
    """A mean of 0 and a variance of 1."""
    mean, variance = (aligned(channels, np.dtype(np.float32)) for _ in range(2))
    variance[...] = 1
    return mean, variance


class PerChannel(Accelerated):
    """A normalisation by a mean of 0 and a variance of 1, with some of s and b as operands."""

    flags = GLOBAL
    axis: int

    def operands(self, bottom: Views) -> list[View]:
        raise NotImplementedError

    def prepare(self, bottom: Views, top: Views) -> None:
        if not by_channel(bottom[0], self.operands(bottom), self.axis):
            raise OneDnnError("not one number for each channel")
        shape = bottom[0].shape
        self._dims = channel_dims(shape)
        self._statistics = unmoved(shape[1])
        self._made: dict[Layout, Normalisation] = {}
        self._input = Kept()
        self._used = self._normalisation(layout_of(bottom[0].data_value, self._dims))

    def fast_forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data_value, top[0].data_value
        self._used = made = self._normalisation(layout_of(x, self._dims))
        home = made.layout.home
        if x is not y:
            source, target = x.read(home), y.replace(home)
        elif self.needs_backward and made.scaled:
            source, target = self._input.swap(x, made.layout)
        else:
            source = target = x.write(home)
        made.forward(source, target, self._statistics, self._rooms_of(bottom))

    def propagate(self, top: Views, bottom: Views, down: bool) -> list[Array]:
        """Write ∂x if it is asked for; the gradients of the operands, to be added."""
        made, gy, gx = self._used, top[0].diff_value, bottom[0].diff_value
        home = made.layout.home
        above = gy.read(home)
        if not down:
            below = made.layout.allocate(made.layout.count, np.dtype(np.float32))
        else:
            below = gx.write(home) if gx is gy else gx.replace(home)
        source = self._input.found(bottom[0].data_value, home) if made.scaled else above
        made.backward(source, above, below, self._statistics, self._rooms_of(bottom))
        self._input.give_back()
        return made.gradients

    def keep(self, x: Value, layout: Layout) -> Array:
        """Room for what x was before the last pass, which another layer did in this one's stead."""
        self._used = self._normalisation(layout)
        return self._input.room_for(x, self._used.layout)

    def _rooms_of(self, bottom: Views) -> list[Array]:
        return [operand.data_value.read() for operand in self.operands(bottom)]

    def _normalisation(self, layout: Layout) -> Normalisation:
        if layout not in self._made:
            self._made[layout] = normalisation(layout, EPS, self.flags, True)
        return self._made[layout]


@accelerates("Scale")
class Scale(PerChannel, generic_scale.Scale):
    __doc__ = generic_scale.Scale.__doc__

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.flags = GLOBAL | SCALE | SHIFT * self.bias_term

    def operands(self, bottom: Views) -> list[View]:
        return [self._scale(bottom), *self.params[-1:]] if self.bias_term else [self._scale(bottom)]

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0] and not in_place(bottom[0], top[0]):
            generic_scale.Scale.backward(self, top, propagate_down, bottom)
            return
        self.add_gradients(self.propagate(top, bottom, propagate_down[0]), propagate_down, bottom)

    def add_gradients(self, new: list[Array], propagate_down: Flags, bottom: Views) -> None:
        if self.bias_term and self.param_propagate_down[-1]:
            self.params[-1].diff[...] += new[1]
        if len(bottom) > 1:
            if propagate_down[1]:
                bottom[1].diff[...] = new[0]
        elif self.param_propagate_down[0]:
            if self._overwrites():
                self.params[0].diff[...] = new[0]
            else:
                self.params[0].diff[...] += new[0]


@accelerates("Bias")
class Bias(PerChannel, generic_bias.Bias):
    __doc__ = generic_bias.Bias.__doc__

    flags = GLOBAL | SHIFT

    def operands(self, bottom: Views) -> list[View]:
        return [self._bias(bottom)]

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        (new,) = self.propagate(top, bottom, propagate_down[0])
        if len(bottom) > 1:
            if propagate_down[1]:
                bottom[1].diff[...] = new
        elif self.param_propagate_down[0]:
            self.params[0].diff[...] += new
