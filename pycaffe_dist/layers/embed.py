"""Embed: rows of a table by their number."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import Layer, register


@register("Embed")
class Embed(Layer):
    """y = W[int(x)] + b: an InnerProduct of one-hot vectors, without making them.

    x: (…)  W: (input_dim, N)  b: (N,)  y: (…, N)
    ∂W[int(x)] += ∂y   ∂b = Σ ∂y   Indices have no gradient.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.embed_param
        self.outputs, self.inputs = p.num_output, p.input_dim
        self.check(self.outputs > 0, "num_output must be above 0, but is 0 or missing")
        self.check(self.inputs > 0, "input_dim must be above 0, but is 0 or missing")
        self.add_blob((self.inputs, self.outputs), p.weight_filler)
        if p.bias_term:
            self.add_blob((self.outputs,), p.bias_filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape(*bottom[0].shape, self.outputs)

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data.reshape(-1, self.outputs)
        self.xp.take(self.params[0].data, self._indices(bottom[0]), axis=0, out=y)
        if len(self.params) > 1:
            y += self.params[1].data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        self.check(not propagate_down[0], "cannot give its indices a gradient")
        gy = top[0].diff.reshape(-1, self.outputs)
        if self.param_propagate_down[0]:
            self.xp.add.at(self.params[0].diff, self._indices(bottom[0]), gy)
        if len(self.params) > 1 and self.param_propagate_down[1]:
            self.params[1].diff[...] += gy.sum(axis=0)

    def flops(self, bottom: Views, top: Views) -> int:
        return top[0].count if len(self.params) > 1 else 0

    def _indices(self, x: View) -> Array:
        values = x.data.reshape(-1)
        known = (values > -1) & (values < self.inputs)
        if not known.all():
            wrong = float(values[~known][0])
            raise self.error(f"the index {wrong:g} is not one of 0 to {self.inputs - 1}")
        return values.astype(self.xp.int64)
