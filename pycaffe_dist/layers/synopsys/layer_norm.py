"""LayerNorm."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.work import Working
from pycaffe_dist.proto.caffe_pb2 import FillerParameter


@register("LayerNorm")
class LayerNorm(Working):
    """y = γ·x̂ + β, x̂ = (x − mean) / √(variance + eps) over all values of an item.

    x, y: (N, …)  γ, β: parameters of an item's shape, unless ``elementwise_affine`` is false
    ∂x = (g − mean(g) − x̂·mean(g·x̂)) / √(variance + eps), g = γ·∂y   ∂γ = Σ x̂·∂y   ∂β = Σ ∂y
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.layer_norm_param
        self.eps, self.affine = p.eps, p.elementwise_affine
        if self.affine:
            self.add_blob(bottom[0].shape[1:], FillerParameter(value=1))
            self.add_blob(bottom[0].shape[1:])

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) > 1, f"needs 2 axes or more, the bottom is {shape}")
        if self.affine:
            self.check(
                shape[1:] == self.params[0].shape,
                f"its parameters are for items of {self.params[0].shape}, the bottom is {shape}",
            )
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = self._items(bottom[0].data), self._items(top[0].data)
        size = self.dtype.type(max(1, x.shape[1]))
        normal = self.work("normal", x.shape)
        self.xp.subtract(x, x.sum(axis=1, keepdims=True) / size, out=normal)
        variance = self.xp.einsum("nk,nk->n", normal, normal) / size
        inverse = self.work("inverse", (len(x), 1))
        inverse[...] = 1 / self.xp.sqrt(variance + self.dtype.type(self.eps))[:, None]
        normal *= inverse
        y[...] = normal
        if self.affine:
            y *= self.params[0].data.reshape(-1)
            y += self.params[1].data.reshape(-1)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = self._items(top[0].diff)
        normal, inverse = self.work("normal", gy.shape), self.work("inverse", (len(gy), 1))
        if self.affine:
            for i, total in enumerate((self.xp.einsum("nk,nk->k", gy, normal), gy.sum(axis=0))):
                if self.param_propagate_down[i]:
                    self.params[i].diff[...] += total.reshape(self.params[i].shape)
        if propagate_down[0]:
            g = gy * self.params[0].data.reshape(-1) if self.affine else gy
            size = self.dtype.type(max(1, gy.shape[1]))
            slope = self.xp.einsum("nk,nk->n", g, normal)[:, None] / size
            gx = g - g.sum(axis=1, keepdims=True) / size - normal * slope
            self.xp.multiply(gx, inverse, out=self._items(bottom[0].diff))

    def flops(self, bottom: Views, top: Views) -> int:
        return 7 * top[0].count

    @staticmethod
    def _items(array: Array) -> Array:
        return array.reshape(len(array), -1)
