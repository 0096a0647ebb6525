"""Bias, and what it has in common with Scale."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.work import Working


class Broadcast(Working):
    """A bottom x and an operand, which is repeated along the axes of x before and after its own.

    x: (outer, operand, inner)
    The operand is the second bottom, which matches the axes of x from ``axis`` on, or a parameter
    of ``num_axes`` axes from there (-1: all; 0: a scalar).
    """

    bottoms = (1, 2)

    def operand_shape(self, x: View, axis: int, num_axes: int) -> tuple[int, ...]:
        """The shape of a parameter for x."""
        self.check(num_axes >= -1, f"num_axes must be at least -1, not {num_axes}")
        start = x.axis(axis)
        end = start + num_axes if num_axes >= 0 else len(x.shape)
        self.check(
            end <= len(x.shape),
            f"{num_axes} axes from axis {start} on go past the bottom's shape {x.shape}",
        )
        return x.shape[start:end]

    def spread(self, x: View, operand: View, axis: int) -> tuple[int, int, int]:
        """The shape of x as (outer, operand, inner)."""
        if not operand.shape:
            return x.count, 1, 1
        start = x.axis(axis)
        end = start + len(operand.shape)
        self.check(
            x.shape[start:end] == operand.shape,
            f"the shape {operand.shape} does not fit the bottom's {x.shape} from axis {start} on",
        )
        return x.count_from(0, start), operand.count, x.count_from(end)


@register("Bias")
class Bias(Broadcast):
    """y = x + b;  ∂x = ∂y   ∂b = Σ ∂y."""

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.bias_param
        self.axis = p.axis
        if len(bottom) == 1:
            self.add_blob(self.operand_shape(bottom[0], p.axis, p.num_axes), p.filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        self.shape = self.spread(bottom[0], self._bias(bottom), self.axis)
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data.reshape(self.shape), top[0].data.reshape(self.shape)
        self.xp.add(x, self._bias(bottom).data.reshape(-1, 1), out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff.reshape(self.shape)
        if propagate_down[0] and top[0].blob is not bottom[0].blob:
            bottom[0].diff[...] = top[0].diff
        if len(bottom) > 1:
            if propagate_down[1]:
                bottom[1].diff.reshape(-1)[...] = self.xp.einsum("obi->b", gy)
        elif self.param_propagate_down[0]:
            gb = self.params[0].diff.reshape(-1)
            gb += self.xp.einsum("obi->b", gy)

    def _bias(self, bottom: Views) -> View:
        return bottom[1] if len(bottom) > 1 else self.params[0]
