"""Dropout where the values are: the mask is brought into their layout."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates
from pycaffe_dist.engines.onednn.core.formulas import Formula, Pass
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.engines.onednn.layers.neurons import home_of, kind_of, length
from pycaffe_dist.layers import dropout as generic
from pycaffe_dist.memory import Array, Home, Value
from pycaffe_dist.rng import generator


@accelerates("Dropout")
class Dropout(Accelerated, generic.Dropout):
    __doc__ = generic.Dropout.__doc__

    def prepare(self, bottom: Views, top: Views) -> None:
        self._count = bottom[0].count
        self.replays = not self.draws
        self._mask = Value(self._count, self.dtype)
        self._made: dict[Home, Pass] = {}
        self._home = home_of(bottom[0].blob.data_value, self._count)
        if self.share != 1:
            raise OneDnnError("its TEST is no copy")

    def fast_forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].blob.data_value, top[0].blob.data_value
        self._home = home_of(x, self._count)
        if self.draws:
            self._draw()
        self._apply(x, y)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            self._apply(top[0].blob.diff_value, bottom[0].blob.diff_value)

    def _draw(self) -> None:
        """A new mask, by the numbers that the generic layer draws."""
        draws = generator().randint(0, 1 << 32, self._count, dtype=np.uint32)
        kept = self.work("kept", (self._count,), bool)
        np.greater_equal(draws, self.limit, out=kept)
        np.multiply(kept, self.scale, out=self._mask.replace())

    def _apply(self, given: Value, result: Value) -> None:
        """Multiply by the mask, if there is one; in place, without one, there is nothing to do."""
        home = self._home
        if not self.draws:
            if given is not result:
                do(self._copy, given.read(home), result.replace(home))
            return
        if home not in self._made:
            formula, size = Formula("x", ("mul", "mask")), length(home, self._count)
            self._made[home] = formula.over(size, kind_of(home))
        room, mask = given.read(home), self._mask.read(home)
        target = given.write(home) if given is result else result.replace(home)
        self._made[home](room, mask, target)

    def _copy(self, room: Array, target: Array) -> None:
        size = length(self._home, self._count)
        np.copyto(target[:size], room[:size])
