"""BatchNorm by oneDNN's batch normalisation, alone or with the Scale and ReLU behind it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, Key, accelerates, layout_of
from pycaffe_dist.engines.onednn.core.kept import Kept
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Layout
from pycaffe_dist.engines.onednn.layers.normalisation import (
    GLOBAL,
    RELU,
    SCALE,
    SHIFT,
    Normalisation,
    channel_dims,
    normalisation,
)
from pycaffe_dist.layers import batch_norm as generic
from pycaffe_dist.memory import Value, aligned

Operands = Sequence[Array]
# oneDNN adds up a channel one value after the other, and the mean is off in its last digits; of
# fewer values than this NumPy takes exact statistics in no time.
FEW = 1 << 15
FLAGS = 0, SCALE, SCALE | SHIFT  # by the number of operands


@accelerates("BatchNorm")
class BatchNorm(Accelerated, generic.BatchNorm):
    __doc__ = generic.BatchNorm.__doc__

    def key(self) -> Key:
        return (*super().key(), self.ranks)  # whose statistics it takes

    def prepare(self, bottom: Views, top: Views) -> None:
        if self.ranks > 1:
            raise OneDnnError("its statistics are those of several ranks")
        self._dims = channel_dims(bottom[0].shape)
        self._few = prod(self._dims) < FEW
        self._made: dict[tuple[Layout, int, bool], Normalisation] = {}
        self._input = Kept()
        self._statistics = [aligned(self.channels, np.dtype(np.float32)) for _ in range(2)]
        self._used = self._normalisation(layout_of(bottom[0].data_value, self._dims), 0, False)

    def fast_forward(self, bottom: Views, top: Views) -> None:
        self.normalise(bottom[0].data_value, top[0].data_value)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.propagate(bottom[0].data_value, top[0].diff_value, bottom[0].diff_value)

    def normalise(self, x: Value, y: Value, operands: Operands = (), relu: bool = False) -> None:
        """Normalise x into y, with the operands of a Scale and a ReLU behind it if given."""
        layout = layout_of(x, self._dims)
        self._used = made = self._normalisation(layout, len(operands), relu)
        if self.use_global_stats:
            self._take(self._stored())
        elif self._few:
            self._take(self._measured(x))
        home = made.layout.home
        if x is not y:
            source, target = x.read(home), y.replace(home)
        elif self.needs_backward and (operands or not self.use_global_stats):
            source, target = self._input.swap(x, made.layout)
        else:
            source = target = x.write(home)
        made.forward(source, target, self._statistics, operands)
        if relu and not all(isfinite(float(x.sum())) for x in (*self._statistics, *operands)):
            target[...] = np.nan  # the primitive's ReLU makes 0 of NaN, and nobody would notice
        if not self.use_global_stats:
            mean, variance = self._statistics
            self._store(mean, variance, layout.count // self.channels)

    def propagate(self, x: Value, gy: Value, gx: Value, operands: Operands = ()) -> Operands:
        """The gradient of the last ``normalise``; those of the operands, to be added."""
        made = self._used
        home = made.layout.home
        source, above = self._input.found(x, home), gy.read(home)
        below = gx.write(home) if gx is gy else gx.replace(home)
        made.backward(source, above, below, self._statistics, operands)
        self._input.give_back()
        return made.gradients

    def stand_alone(self) -> None:
        """Continue as after a pass without operands and ReLU."""
        self._used = self._normalisation(self._used.layout, 0, False)

    def stored_factor(self) -> tuple[Array, Array]:
        """The stored μ, and 1 / √(σ² + eps)."""
        mean, variance = self._stored()
        return mean, 1 / np.sqrt(variance + np.float32(self.eps))

    def renormalise(self, x: Value, room: Array) -> None:
        """Write once more, to ``room``, what a Scale behind this layer would have found."""
        layout = self._used.layout
        key = layout, -1, False
        if key not in self._made:
            self._made[key] = Normalisation(layout, self.eps, GLOBAL, False)
        self._made[key].forward(self._input.found(x, layout.home), room, self._statistics)

    @property
    def layout(self) -> Layout:
        """The layout of the last pass."""
        return self._used.layout

    def _normalisation(self, layout: Layout, operands: int, relu: bool) -> Normalisation:
        key = layout, operands, relu
        if key not in self._made:
            flags = FLAGS[operands] | RELU * relu | GLOBAL * self.use_global_stats
            training = self.needs_backward or not self.use_global_stats
            given = self._few and not self.use_global_stats
            self._made[key] = normalisation(layout, self.eps, flags, training, given)
        return self._made[key]

    def _take(self, statistics: Operands) -> None:
        for room, values in zip(self._statistics, statistics, strict=True):
            np.copyto(room, values, casting="same_kind")

    def _measured(self, x: Value) -> Operands:
        """μ and σ² of the batch, in double precision."""
        values = x.read()[: prod(self._dims)].astype(np.float64)
        values = values.reshape(*self._dims[:2], -1)
        each = values.size // self.channels
        mean = np.einsum("nci->c", values) / each
        values -= mean[:, None]
        return mean, np.einsum("nci,nci->c", values, values) / each
