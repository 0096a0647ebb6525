"""LSTM and LSTMUnit.  An RNN runs as it is: its steps are products and tanh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates
from pycaffe_dist.layers.lstm import LSTM, LSTMUnit


@accelerates("LSTM")
class DeviceLSTM(OnDevice, LSTM):
    """Two kernels and a GEMM for each step, in both directions."""

    def steps_forward(
        self, sums: DeviceArray, cont: DeviceArray, first: Sequence[DeviceArray], y: DeviceArray
    ) -> Sequence[DeviceArray]:
        weights = self.params[self.state_weights].data.T
        steps, streams, cells = y.shape
        seen_h, cell = self.kept("seen_h", y.shape), self._cells(y.shape)
        h, cell[0] = first
        n = streams * cells
        for t in range(steps):
            self.launch("continue_state", n, cells, cont[t], h, seen_h[t])
            self.engine.multiply(seen_h[t], weights, sums[t], add=True)
            h = y[t]
            arrays = cont[t], cell[t], sums[t], sums[t], cell[t + 1], h
            self.launch("lstm_unit_forward", n, cells, *arrays)
        return [h, cell[steps]]

    def steps_backward(self, gy: DeviceArray, cont: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        weights = self.params[self.state_weights].data
        steps, streams, cells = gy.shape
        gates = self.work("sums", (steps, streams, 4 * cells))
        cell, g = self._cells(gy.shape), self.work("g", gates.shape)
        through, gh = self.spare("through", gy.shape[1:]), self.spare("gh", gy.shape[1:])
        gc = self.spare("gc", gy.shape[1:])
        gc.fill(0)
        n = streams * cells
        for t in reversed(range(steps)):
            if t + 1 < steps:
                self.engine.multiply(g[t + 1], weights, through)
                self.launch("continue_gradient", n, cells, cont[t + 1], through, gy[t], gh)
            arrays = cont[t], cell[t], gates[t], cell[t + 1], gc, gh if t + 1 < steps else gy[t]
            self.launch("lstm_unit_backward", n, cells, *arrays, g[t], gc)
        return g, self.kept("seen_h", gy.shape)

    def _cells(self, shape: tuple[int, ...]) -> Any:
        """The cells before the first step and after each."""
        return self.kept("cells", (shape[0] + 1, *shape[1:]))


@accelerates("LSTMUnit")
class DeviceLSTMUnit(OnDevice, LSTMUnit):
    def forward(self, bottom: Views, top: Views) -> None:
        c_prev, sums, cont = (view.data for view in bottom)
        gates = self.kept("gates", sums.shape)
        arrays = cont, c_prev, sums, gates, top[0].data, top[1].data
        self.launch("lstm_unit_forward", c_prev.size, c_prev.shape[2], *arrays)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[2], "cannot give the sequence indicators a gradient")
        if not any(propagate_down):
            return
        c_prev, sums, cont = (view.data for view in bottom)
        gates = self.kept("gates", sums.shape)
        arrays = cont, c_prev, gates, top[0].data, top[0].diff, top[1].diff
        gradients = bottom[1].diff, bottom[0].diff
        self.launch("lstm_unit_backward", c_prev.size, c_prev.shape[2], *arrays, *gradients)
