"""Schemes that carry the factors of a gradient instead of the gradient.

The weight gradient of an inner product over K rows is ∂W = AᵀB, with A: (K, N) the top's diff and
B: (K, M) the bottom's data.  The sum over ranks is the product of all their rows:
Σ AᵣᵀBᵣ = [A₀; A₁; …]ᵀ [B₀; B₁; …], so K(M + N) values travel instead of MN.  ∂b = Σ A goes with it.
The layer's own backward leaves these gradients out: they are made here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.blob import View
from pycaffe_dist.engines.base import Engine
from pycaffe_dist.errors import NetError
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import HOST, Home
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.exchange.parcel import Contents, Fabric, Parcel
from pycaffe_dist.solver import Solver
from pycaffe_dist.threads import flush_denormals


class Factors:
    """The factors of a layer's weight gradient, as they are after its backward.

    Args:
        net: the layer's.
        layer: its number.
        home: where the factors are looked at.

    Attributes:
        product: their shapes, and how they are multiplied.
    """

    def __init__(self, net: Net, layer: int, home: Home = HOST) -> None:
        self.layer = net.layers[layer]
        self._top = [View(view.blob, home, "data") for view in net.tops[layer]]
        self._bottom = [View(view.blob, home, "diff") for view in net.bottoms[layer]]
        product = self.layer.outer_product(self._top, self._bottom)
        assert product is not None, self.layer.name
        self.product, self.rows = product, product.rows

    @property
    def width(self) -> int:
        """Of A and B side by side."""
        return self.product.outputs + self.product.inputs

    def now(self) -> tuple[DeviceArray, DeviceArray]:
        """(A, B) of the pass that has just been."""
        a, b = self.layer.factors(self._top, self._bottom)
        if a.shape[0] != self.rows:
            raise NetError(
                f'layer "{self.layer.name}": its gradient is exchanged as factors of {self.rows} '
                f"rows, now it has {a.shape[0]}. Where the batch size changes, use: "
                f"--comm-layer {self.layer.name}=dense"
            )
        return a, b

    def put(self, rows: Array, scale: DeviceArray) -> None:
        """Write scale·A and B of the pass that has just been, side by side."""
        a, b = self.now()
        mine, other = self.split(rows)
        np.multiply(a, scale, out=mine)
        other[...] = b

    def split(self, rows: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """A and B of rows that have both side by side."""
        outputs = self.product.outputs
        return rows[:, :outputs], rows[:, outputs:]

    def multiply(
        self, a: DeviceArray, b: DeviceArray, gradients: Sequence[DeviceArray], engine: Engine
    ) -> None:
        """Write the gradients of the weights and, if it is there, of the bias.

        All are flat, in the home of ``engine``: ∂W = LᵀR, ∂b = Σ A.
        """
        weights, *bias = gradients
        left, right = self.product.sides(a, b)
        with flush_denormals():
            engine.outer(left, right, weights.reshape(left.shape[1], right.shape[1]))
            for gradient in bias:
                a.sum(axis=0, out=gradient)


class Factored(Parcel):
    """A parcel that knows the factors of its layer; ``home`` is where it looks at them."""

    home: Home = HOST

    def __init__(self, fabric: Fabric, solver: Solver, contents: Contents) -> None:
        super().__init__(fabric, solver, contents)
        self.factors = Factors(solver.net, contents.layer, self.home)
        self._layer = self.factors.layer
        self.height = self.factors.rows * solver.param.iter_size  # of what this rank sends
        self._flags = list(self._layer.param_propagate_down)
        for blob in (param.owner[1] for param in self.learnable):
            self._layer.param_propagate_down[blob] = False

    def close(self) -> None:
        self._layer.param_propagate_down[:] = self._flags

    def gradient(self, param: Param) -> DeviceArray:
        """Where the layer's engine keeps a gradient, to be written whole."""
        home = self._layer.context.home
        param.blob.diff_value.replace(home)
        return View(param.blob, home, "diff").diff.reshape(-1)
