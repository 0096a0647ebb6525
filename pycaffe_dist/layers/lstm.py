"""LSTM, and the unit that does one step of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.recurrent import Recurrent


@register("LSTM")
class LSTM(Recurrent):
    """i, f, o = σ(sums), g = tanh(sums);  c_t = cont_t f c_{t−1} + i g,  h_t = o tanh(c_t).

    The sums of a step are W_xc x_t + b_c + W_xc_static x_static + W_hc (cont_t h_{t−1}), in the
    order i, f, o, g.  Parameters: W_xc (4D, I), b_c (4D,), [W_xc_static (4D, S)], W_hc (4D, D).
    The states are h and c; the top is h.
    """

    states = 2
    gates = 4

    def steps_forward(
        self, sums: Array, cont: Array, first: Sequence[Array], y: Array
    ) -> Sequence[Array]:
        xp, weights = self.xp, self.params[self.state_weights].data.T
        kept_h, kept_c = self.work("kept_h", y.shape), self.work("kept_c", y.shape)
        tanh_c = self.work("tanh_c", y.shape)
        h, c = first
        for t, goes_on in enumerate(cont[:, :, None]):
            kept_c[t] = self.continued(c, goes_on)
            sums[t] += self.recall(h, goes_on, kept_h[t]) @ weights
            gates = _by_gate(sums[t])
            _activate(xp, gates, goes_on)
            c = _cell(gates, kept_c[t])
            xp.tanh(c, out=tanh_c[t])
            h = y[t]
            xp.multiply(gates[:, 2], tanh_c[t], out=h)
        return [h, c]

    def steps_backward(self, gy: Array, cont: Array) -> tuple[Array, Array]:
        weights = self.params[self.state_weights].data
        gates = _by_gate(self.work("sums", (*gy.shape[:2], 4 * self.size)))
        kept_h, kept_c = self.work("kept_h", gy.shape), self.work("kept_c", gy.shape)
        g = self.work("g", (*gy.shape[:2], 4 * self.size))
        slopes = _by_gate(g)  # of each sum, turned into its gradient step by step
        into_c = self.work("into_c", gy.shape)
        _slopes(gates, kept_c, self.work("tanh_c", gy.shape), slopes, into_c)
        gh, gc = gy[-1], self.dtype.type(0)
        for t in reversed(range(len(gy))):
            if t + 1 < len(gy):
                gh = self.passed_back(g[t + 1] @ weights, cont[t + 1, :, None]) + gy[t]
            gc = gc + gh * into_c[t]
            _chain(slopes[t], gh, gc)
            self.stepped_back(t, g[t], gh)
            gc *= gates[t, :, 1]
        return g, kept_h

    # -- what another LSTM may change ----------------------------------------------------------

    def recall(self, h: Array, goes_on: Array, kept: Array) -> Array:
        """What a step sees of the h before it; ``kept`` is to hold what W_hc's gradient needs."""
        self.xp.multiply(self.continued(h, goes_on), goes_on, out=kept)
        return kept

    def passed_back(self, gh: Array, goes_on: Array) -> Array:
        """The gradient of the h before, from that of what the step saw."""
        return gh * goes_on

    def stepped_back(self, t: int, g: Array, gh: Array) -> None:
        """A step's gradients are there: those of its sums, which may be changed, and of its h."""


@register("LSTMUnit")
class LSTMUnit(Layer):
    """One step of an LSTM from the sums of its gates: c, h from c_prev, sums, cont.

    c_prev, c, h: (1, N, D)  sums: (1, N, 4D) in the order i, f, o, g  cont: (1, N)
    """

    bottoms = 3
    tops = 2
    label_bottoms = (2,)

    def reshape(self, bottom: Views, top: Views) -> None:
        c_prev, sums, cont = (view.shape for view in bottom)
        self.check(
            len(c_prev) == 3 and c_prev[0] == 1,
            f"bottom 0 must be (1, streams, cells), found {c_prev}",
        )
        self.check(
            sums == (1, c_prev[1], 4 * c_prev[2]),
            f"bottom 1 must have the shape {(1, c_prev[1], 4 * c_prev[2])}, found {sums}",
        )
        self.check(
            cont == (1, c_prev[1]), f"bottom 2 must have the shape {(1, c_prev[1])}, found {cont}"
        )
        for view in top:
            view.reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        gates, kept = self._gates_and_kept(bottom)
        top[0].data[...] = _cell(gates, kept)
        self.xp.multiply(gates[:, :, 2], self.xp.tanh(top[0].data), out=top[1].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[2], "cannot give the sequence indicators a gradient")
        if not any(propagate_down):
            return
        gates, kept = self._gates_and_kept(bottom)
        slopes = _by_gate(bottom[1].diff)
        into_c = self.xp.empty_like(kept)
        _slopes(gates, kept, self.xp.tanh(top[0].data), slopes, into_c)
        gc = top[0].diff + top[1].diff * into_c
        _chain(slopes, top[1].diff, gc)
        self.xp.multiply(gc, gates[:, :, 1], out=bottom[0].diff)

    def _gates_and_kept(self, bottom: Views) -> tuple[Array, Array]:
        cont = bottom[2].data[:, :, None]
        gates = _by_gate(bottom[1].data.copy())
        _activate(self.xp, gates, cont)
        return gates, self.xp.where(cont != 0, bottom[0].data, self.dtype.type(0))


def _by_gate(sums: Array) -> Array:
    """(…, 4D) as (…, 4, D)."""
    return sums.reshape(*sums.shape[:-1], 4, -1)


def _activate(xp: ArrayModule, gates: Array, cont: Array) -> None:
    """In place: σ of i, f, o; tanh of g; f times cont, exactly 0 where cont is."""
    ifo, f, g = gates[..., :3, :], gates[..., 1, :], gates[..., 3, :]
    xp.negative(ifo, out=ifo)
    with np.errstate(over="ignore"):
        xp.exp(ifo, out=ifo)
    ifo += 1
    xp.reciprocal(ifo, out=ifo)
    xp.tanh(g, out=g)
    f[...] = xp.where(cont != 0, f, f.dtype.type(0)) * cont


def _cell(gates: Array, kept: Array) -> Array:
    """The new cell, f c_prev + i g."""
    return gates[..., 1, :] * kept + gates[..., 0, :] * gates[..., 3, :]


def _slopes(gates: Array, kept: Array, tanh_c: Array, slopes: Array, into_c: Array) -> None:
    """What each sum moves: of i, f, g the cell, of o the top; and what the cell moves, the top.

    f (1 − f) holds cont too: Caffe's slope, and the true one where cont is 0 or 1.
    """
    ifo = gates[..., :3, :]
    slopes[..., :3, :] = ifo * (1 - ifo)
    i, o, g = (gates[..., k, :] for k in (0, 2, 3))
    slopes[..., 0, :] *= g
    slopes[..., 1, :] *= kept
    slopes[..., 2, :] *= tanh_c
    slopes[..., 3, :] = (1 - g * g) * i
    into_c[...] = (1 - tanh_c * tanh_c) * o


def _chain(slopes: Array, gh: Array, gc: Array) -> None:
    """In place: the gradients of the sums from those of h and (all in all) c."""
    slopes[..., :2, :] *= gc[..., None, :]
    slopes[..., 2, :] *= gh
    slopes[..., 3, :] *= gc
