"""LRN, BatchNorm, MVN and Softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.chains import Chainable
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates, split
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.lrn import LRN
from pycaffe_dist.layers.mvn import MVN
from pycaffe_dist.layers.softmax import Softmax
from pycaffe_dist.layers.work import planes


@accelerates("LRN")
class DeviceLRN(OnDevice, LRN):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        region, sizes = self._region(x.shape)
        settings = *sizes, self.alpha_over_n, self.k, self.beta
        with self._elsewhere(bottom, top, y) as made:
            arrays = x, self.kept("scale", x.shape), made
            self.launch(f"lrn_{region}_forward", x.size, *settings, *arrays)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not (propagate_down[0] or self.across):
            return
        y, gy, gx = top[0].data, top[0].diff, bottom[0].diff
        in_place = top[0].blob is bottom[0].blob
        x = y if in_place else bottom[0].data
        region, sizes = self._region(y.shape)
        settings = *sizes, 2 * self.alpha_over_n * self.beta, self.beta, in_place
        with self._elsewhere(bottom, top, gx) as made:
            arrays = x, y, gy, self.kept("scale", y.shape), made
            self.launch(f"lrn_{region}_backward", y.size, *settings, *arrays)

    @contextmanager
    def _elsewhere(self, bottom: Views, top: Views, result: DeviceArray) -> Iterator[Any]:
        """Where the result may be written while neighbours still read what it came from."""
        if top[0].blob is not bottom[0].blob:
            yield result
            return
        room = self.spare("result", result.shape)
        yield room
        result[...] = room

    def _region(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, int, int]]:
        _, channels, height, width = shape
        if self.across:
            return "across", (channels, height * width, self.size)
        return "within", (height, width, self.size)


@accelerates("BatchNorm")
class DeviceBatchNorm(Chainable, OnDevice, BatchNorm):
    """Alone, or with the Scale, the Eltwise and the ReLU behind it.

    Forward a launch measures the batch and one makes y; backward one makes all sums and one ∂x.
    """

    _input: DeviceArray = None  # what in place was x

    def share_batch(self, ranks: int, mean_over_ranks: Callable[[Array], Array]) -> None:
        super().share_batch(ranks, mean_over_ranks)
        self.fast = ranks == 1

    def forward_alone(self, bottom: Views, top: Views) -> None:
        self.normalise(bottom[0], top[0])

    def backward_alone(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self.use_global_stats:
            gy, gx = planes(top[0].diff), planes(bottom[0].diff)
            _, channels, inner = gy.shape
            inverse = self._of_channels("inverse")
            self.launch("scale_forward", gy.size, channels, inner, gy, inverse, gx)
            return
        no_gradients = [self.spare(name, (self.channels,)) for name in ("scale", "shift")]
        self.add_gradients(bottom[0], top[0], [(room, 0) for room in no_gradients])
        self.propagate(top[0].diff, bottom[0], "inverse")

    def normalise(
        self,
        below: View,
        above: View,
        operands: Sequence[DeviceArray] = (),
        rectify: bool = False,
        other: View | None = None,
    ) -> None:
        """y = s·x̂ + b, + ``other``, rectified; ``operands``: s and b, or s, or none of both."""
        scale = operands[0] if operands else self._filled(1)
        shift = operands[1] if len(operands) > 1 else self._filled(0)
        x = planes(below.data)
        if not x.size:
            return
        _, channels, inner = x.shape
        self._measure(x, scale)
        self._keep_input(below, above, bool(operands))
        self.overwrite(above.blob.data_value)
        y = planes(above.data)
        arrays = x, self._of_channels("mean"), self._of_channels("factor"), shift
        settings = channels, inner, rectify
        if other is None:
            self.launch("batch_norm_forward", x.size, *settings, *arrays, y)
        else:
            self.launch("batch_norm_add_forward", x.size, *settings, *arrays, other.data, y)

    def renormalise(self, below: View, room: DeviceArray) -> None:
        """Write once more, to ``room``, what a Scale behind this layer would have found."""
        x = planes(self._seen(below))
        _, channels, inner = x.shape
        arrays = x, self._of_channels("mean"), self._of_channels("inverse"), self._filled(0)
        self.launch("batch_norm_forward", x.size, channels, inner, False, *arrays, room)

    def add_gradients(
        self,
        below: View,
        above: View,
        gradients: Sequence[tuple[DeviceArray, float]],
        rectify: bool = False,
        gated: DeviceArray = None,
    ) -> None:
        """The sums of a backward pass; those for s and b go into ``gradients``.

        These are an array for each, and what is in it is multiplied by before.  The gradient behind
        the ReLU is left in ``gated``, or where it was above.
        """
        x, gy = planes(self._seen(below)), above.diff
        outer, channels, inner = x.shape
        if not x.size:
            return
        splits = split(outer * inner, channels)
        partial = self.spare("partial", (2 * channels * splits,))
        (g_scale, keep_scale), (g_shift, keep_shift) = gradients
        writes = rectify or gated is not None
        settings = rectify, writes, keep_scale, keep_shift
        seen = x, gy, above.data if rectify else gy
        statistics = self._of_channels("mean"), self._of_channels("inverse")
        sums = partial, self.engine.tickets(channels), self.kept("means", (2, channels))
        self.launch(
            "batch_norm_gradients",
            *(channels * splits, splits, outer, channels, inner, *settings),
            *(*seen, *statistics, *sums, g_scale, g_shift, gy if gated is None else gated),
        )

    def propagate(self, gradient: DeviceArray, below: View, factor: str = "factor") -> None:
        """∂x from the gradient behind the ReLU; ``factor``: of ∂x, by the name it is kept by."""
        self.overwrite(below.blob.diff_value)
        g, gx = planes(gradient), planes(below.diff)
        _, channels, inner = g.shape
        own = self._of_channels(factor)
        if self.use_global_stats:
            self.launch("scale_forward", g.size, channels, inner, g, own, gx)
        else:
            means = self.mean_over_ranks(self.kept("means", (2, channels)))
            arrays = self._seen(below), g, self._of_channels("mean"), self._of_channels("inverse")
            self.launch("batch_norm_backward", g.size, channels, inner, *arrays, own, means, gx)
        if below.blob.data_value.pool is not None:
            self._input = None

    def _measure(self, x: DeviceArray, scale: DeviceArray) -> None:
        """μ, 1 / √(σ² + eps) and that times s, of the batch or as they are stored."""
        outer, channels, inner = x.shape
        mean, inverse, factor = map(self._of_channels, ("mean", "inverse", "factor"))
        if self.use_global_stats:
            stored = [param.data for param in self.params]
            arrays = *stored, scale, mean, inverse, factor
            self.launch("batch_norm_stored", channels, self.eps, *arrays)
            return
        stored = [param.change_data() for param in self.params]
        values, settings = outer * inner, (self.moving_average_fraction, self.eps)
        if self.ranks == 1:
            splits = split(values, channels)
            partial = self.spare("partial", (2 * channels * splits,))
            shape = channels * splits, splits, *x.shape
            arrays = (
                x,
                scale,
                partial,
                self.engine.tickets(channels),
                *stored,
                mean,
                inverse,
                factor,
            )
            self.launch("batch_norm_measure", *shape, *settings, *arrays)
            return
        variance = self.spare("variance", (channels,))
        self.sums("channel_sums", x.shape, x, out=mean, scale=1 / values)
        joint = self.mean_over_ranks(mean)
        self.sums("channel_deviations", x.shape, x, joint, out=variance, scale=1 / values)
        arrays = joint, self.mean_over_ranks(variance), scale, *stored, inverse, factor
        self.launch("batch_norm_statistics", channels, values * self.ranks, *settings, *arrays)
        mean[...] = joint

    def _keep_input(self, below: View, above: View, scaled: bool) -> None:
        """In place y gets a room of its own, and the old one keeps x, if backward needs it."""
        value = below.blob.data_value
        seen = self.needs_backward and (scaled or not self.use_global_stats)
        if value is not above.blob.data_value or not seen:
            self._input = None
            return
        room = self._input
        if room is None or room.size != value.count:
            room = self.engine.home.empty(value.count, self.dtype)
        self._input = value.exchange(self.engine.home, room)

    def _seen(self, below: View) -> Any:
        """x of the last forward pass."""
        if self._input is None:
            return below.data
        return self._input[: below.count].reshape(below.shape)

    def _of_channels(self, name: str) -> Any:
        return self.kept(name, (self.channels,))

    def _filled(self, value: float) -> Any:
        return self.engine.constant(np.full(self.channels, value, self.dtype))


@accelerates("MVN")
class DeviceMVN(OnDevice, MVN):
    def forward(self, bottom: Views, top: Views) -> None:
        rows, size = self.rows
        deviation = self.kept("deviation", (rows,))
        settings = size, self.normalize_variance, self.eps
        self.launch("mvn_forward", rows, *settings, bottom[0].data, top[0].data, deviation)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        rows, size = self.rows
        deviation = self.kept("deviation", (rows,))
        arrays = top[0].data, top[0].diff, deviation, bottom[0].diff
        self.launch("mvn_backward", rows, size, self.normalize_variance, *arrays)


@accelerates("Softmax")
class DeviceSoftmax(OnDevice, Softmax):
    def forward(self, bottom: Views, top: Views) -> None:
        softmax(self, self.folded, bottom[0].data, top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        outer, classes, inner = self.folded
        arrays = top[0].data, top[0].diff, bottom[0].diff
        if inner == 1:
            self.launch("softmax_rows_backward", outer, classes, *arrays)
        else:
            self.launch("softmax_backward", outer * inner, classes, inner, *arrays)


def softmax(layer: OnDevice, folded: tuple[int, int, int], *arrays: object) -> None:
    """y = exp x / Σ exp x over the classes: a block for each row, or a thread for each position."""
    outer, classes, inner = folded
    if inner == 1:
        layer.launch("softmax_rows_forward", outer, classes, *arrays)
    else:
        layer.launch("softmax_forward", outer * inner, classes, inner, *arrays)
