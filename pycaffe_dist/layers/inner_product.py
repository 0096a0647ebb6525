"""InnerProduct: a fully connected layer."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, OuterProduct, register


@register("InnerProduct")
class InnerProduct(Layer):
    """y = x Wᵀ + b, with x flattened from ``axis`` on.

    x: (M, K)  W: (N, K), or (K, N) with ``transpose``  b: (N,)  y: (M, N)
    ∂W = ∂yᵀ x   ∂b = Σ ∂y   ∂x = ∂y W
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.inner_product_param
        self.outputs = p.num_output
        self.transpose = p.transpose
        self.axis = bottom[0].axis(p.axis)
        self.inputs = bottom[0].count_from(self.axis)
        shape = (self.outputs, self.inputs)
        self.add_blob(shape[::-1] if self.transpose else shape, p.weight_filler)
        if p.bias_term:
            self.add_blob((self.outputs,), p.bias_filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        inputs = bottom[0].count_from(self.axis)
        self.check(
            inputs == self.inputs,
            f"its weights are for {self.inputs} inputs, the bottom {bottom[0].shape} has {inputs}",
        )
        top[0].reshape(*bottom[0].shape[: self.axis], self.outputs)

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data.reshape(-1, self.inputs), top[0].data.reshape(-1, self.outputs)
        self.xp.matmul(x, self._weights_in_out(), out=y)
        if len(self.params) > 1:
            y += self.params[1].data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, x = self.factors(top, bottom)
        if self.param_propagate_down[0]:
            factors = (x.T, gy) if self.transpose else (gy.T, x)
            if self.params[0].diff_value.is_zero:
                self.xp.matmul(*factors, out=self.params[0].replace_diff())
            else:
                self.params[0].diff[...] += self.xp.matmul(*factors)
        if len(self.params) > 1 and self.param_propagate_down[1]:
            self.params[1].diff[...] += gy.sum(axis=0)
        if propagate_down[0]:
            gx = bottom[0].diff.reshape(-1, self.inputs)
            self.xp.matmul(gy, self._weights_in_out().T, out=gx)

    def outer_product(self, top: Views, bottom: Views) -> OuterProduct:
        rows = bottom[0].count_from(0, self.axis)
        return OuterProduct(rows, self.outputs, self.inputs, self.transpose)

    def factors(self, top: Views, bottom: Views) -> tuple[Array, Array]:
        return top[0].diff.reshape(-1, self.outputs), bottom[0].data.reshape(-1, self.inputs)

    def flops(self, bottom: Views, top: Views) -> int:
        return int(2 * top[0].count * self.inputs)

    def _weights_in_out(self) -> Array:
        weights = self.params[0].data
        return weights if self.transpose else weights.T
