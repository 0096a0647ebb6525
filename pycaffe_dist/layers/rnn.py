"""RNN: a simple recurrent layer."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.recurrent import Recurrent


@register("RNN")
class RNN(Recurrent):
    """h_t = tanh(W_hh (cont_t h_{t−1}) + W_xh x_t + b_h),  y_t = tanh(W_ho h_t + b_o).

    Parameters: W_xh, b_h, [W_xh_static], W_hh, W_ho (D, D), b_o (D,).  The state is h.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        p = self.layer_param.recurrent_param
        self.add_blob((self.size, self.size), p.weight_filler)
        self.add_blob((self.size,), p.bias_filler)

    def steps_forward(
        self, sums: Array, cont: Array, first: Sequence[Array], y: Array
    ) -> Sequence[Array]:
        xp, weights = self.xp, self.params[self.state_weights].data.T
        kept = self.work("kept", y.shape)
        h = first[0]
        for t, goes_on in enumerate(cont[:, :, None]):
            xp.multiply(self.continued(h, goes_on), goes_on, out=kept[t])
            h = sums[t]
            h += kept[t] @ weights
            xp.tanh(h, out=h)
        # Kept apart from the top, where a layer in place may change it before backward.
        out = self.work("out", y.shape)
        xp.matmul(self._rows(sums), self.params[-2].data.T, out=self._rows(out))
        out += self.params[-1].data
        xp.tanh(out, out=out)
        y[...] = out
        return [h]

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        super().backward(top, propagate_down, bottom)
        g = self._rows(self.work("g_out", top[0].shape))
        self.params[-2].diff[...] += g.T @ self._rows(self.work("sums", top[0].shape))
        self.params[-1].diff[...] += g.sum(axis=0)

    def steps_backward(self, gy: Array, cont: Array) -> tuple[Array, Array]:
        xp, weights = self.xp, self.params[self.state_weights].data
        g_out = self.work("g_out", gy.shape)
        self._through_tanh(gy, self.work("out", gy.shape), g_out)
        g = self.work("g", gy.shape)
        xp.matmul(self._rows(g_out), self.params[-2].data, out=self._rows(g))
        h = self.work("sums", gy.shape)
        for t in reversed(range(len(g))):
            if t + 1 < len(g):
                g[t] += (g[t + 1] @ weights) * cont[t + 1, :, None]
            self._through_tanh(g[t], h[t], g[t])
        return g, self.work("kept", gy.shape)

    def _rows(self, x: Array) -> Array:
        return x.reshape(-1, self.size)

    def _through_tanh(self, gy: Array, y: Array, out: Array) -> None:
        slope = 1 - y * y
        self.xp.multiply(gy, slope, out=out)

    def flops(self, bottom: Views, top: Views) -> int:
        return super().flops(bottom, top) + int(2 * top[0].count * self.size)
