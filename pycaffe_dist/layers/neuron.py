"""What all element-wise layers have in common."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.blob import Views
from pycaffe_dist.layers.work import Working


class Neuron(Working):
    """One bottom, one top of the same shape; most may work in place."""

    def reshape(self, bottom: Views, top: Views) -> None:
        top[0].reshape_like(bottom[0])

    def slopes(self, x: Array, below: Array) -> Array:
        """1 where x > 0, ``below`` where x ≤ 0, 0·``below`` where x is NaN."""
        slopes, where = self.work("slopes", x.shape), self.work("where", x.shape, bool)
        self.xp.less_equal(x, 0, out=where)
        self.xp.multiply(where, below, out=slopes)
        self.xp.greater(x, 0, out=where)
        slopes += where
        return slopes


def sign(xp: ArrayModule, x: Array, out: Array) -> None:
    """Write 1 where x > 0, −1 where x < 0, 0 elsewhere, so for NaN too; ``out`` may be x."""
    below = x < 0
    xp.greater(x, 0, out=out)
    out -= below
