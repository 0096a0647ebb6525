"""InnerProduct as happynear's fork has it: with ``normalize``, or weights from a bottom."""

from __future__ import annotations

from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.inner_product import InnerProduct

EPS = 1e-6


@register(
    "InnerProduct",
    dialect="happynear",
    when=lambda p: p.inner_product_param.normalize,
    why="inner_product_param has normalize",
)
class NormalizedInnerProduct(InnerProduct):
    """y = x Wᵀ + b.  With ``normalize`` every forward pass **scales the rows of W to length 1**
    first; the gradients are those of the plain product.
    """

    fork_fields = ("InnerProductParameter.normalize",)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.normalize = self.remembers = self.layer_param.inner_product_param.normalize
        self.check(
            not (self.normalize and self.transpose),
            "takes either normalize or transpose, and both are given",
        )

    def forward(self, bottom: Views, top: Views) -> None:
        if self.normalize:
            w = self.params[0].change_data()
            w /= self.xp.sqrt(self.xp.einsum("nk,nk->n", w, w) + self.dtype.type(EPS))[:, None]
        super().forward(bottom, top)


@register(
    "InnerProduct",
    dialect="happynear",
    when=lambda p: len(p.bottom) == 2,
    why="it has two bottoms",
)
class GivenInnerProduct(Layer):
    """y = x Wᵀ, with x flattened from ``axis`` on, and W the second bottom;  ∂x = ∂y W, ∂W = ∂yᵀ x.

    x: (M, K)  W: (N, K)  y: (M, N)
    """

    bottoms = 2

    def reshape(self, bottom: Views, top: Views) -> None:
        p, x, w = self.layer_param.inner_product_param, bottom[0], bottom[1]
        axis = x.axis(p.axis)
        self.inputs = x.count_from(axis)
        self.check(
            len(w.shape) > 0 and w.count_from(1) == self.inputs,
            f"the weights {w.shape} do not fit the inputs {x.shape}",
        )
        self.check(not p.bias_term, "takes no bias if its weights are a bottom: bias_term: false")
        top[0].reshape(*x.shape[:axis], w.shape[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, w = (view.data.reshape(-1, self.inputs) for view in bottom)
        self.xp.matmul(x, w.T, out=top[0].data.reshape(len(x), len(w)))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        x, w = (view.data.reshape(-1, self.inputs) for view in bottom)
        gy = top[0].diff.reshape(len(x), len(w))
        for view, wanted, factors in zip(bottom, propagate_down, ((gy, w), (gy.T, x)), strict=True):
            if wanted:
                self.xp.matmul(*factors, out=view.diff.reshape(-1, self.inputs))

    def flops(self, bottom: Views, top: Views) -> int:
        return int(2 * top[0].count * self.inputs)
