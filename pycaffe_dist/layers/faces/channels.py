"""ChannelScale, Gram and Pairwise: products of features."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.work import planes
from pycaffe_dist.proto.caffe_pb2 import PairwiseParameter


@register("ChannelScale")
class ChannelScale(Layer):
    """y = x·s, a number for each place of each item;  ∂x = s·∂y   ∂s = Σ x·∂y over the channels.

    x, y: (N, C, …)  s: (N, 1, …).  Without ``do_forward`` y = x, without ``do_backward_feature``
    ∂x = ∂y, without ``do_backward_scale`` ∂s = 0.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        self.check(
            not self.layer_param.channel_scale_param.global_scale,
            "global_scale is not supported: use a Scale with one value (num_axes: 0)",
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        x, s = bottom[0], bottom[1]
        self.check(
            len(x.shape) > 1 and s.count == x.shape[0] * x.count_from(2),
            f"needs a value for each place of the bottom {x.shape}, found {s.shape}",
        )
        top[0].reshape_like(x)

    def forward(self, bottom: Views, top: Views) -> None:
        if self.layer_param.channel_scale_param.do_forward:
            x = planes(bottom[0].data)
            self.xp.multiply(x, self._scales(bottom[1].data, x), out=planes(top[0].data))
        else:
            top[0].data[...] = bottom[0].data

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        p, gy, x = self.layer_param.channel_scale_param, planes(top[0].diff), planes(bottom[0].data)
        if propagate_down[1]:
            gs = self._scales(bottom[1].diff, x)
            product = self.xp.einsum("nci,nci->ni", gy, x)[:, None]
            gs[...] = product if p.do_backward_scale else 0
        if propagate_down[0]:
            s = self._scales(bottom[1].data, x) if p.do_backward_feature else self.dtype.type(1)
            self.xp.multiply(gy, s, out=planes(bottom[0].diff))

    def _scales(self, s: Array, x: Array) -> Array:
        return s.reshape(len(x), 1, x.shape[2])


@register("Gram")
class Gram(Layer):
    """y = x xᵀ / (C·I) for each item;  ∂x = (∂y + ∂yᵀ) x / (C·I).

    x: (N, C, …) with I places  y: (N, C, C, 1)
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        x = bottom[0].shape
        self.check(len(x) > 1, f"needs a bottom (N, C, …), found {x}")
        self.size = self.dtype.type(max(1, bottom[0].count_from(1)))
        top[0].reshape(*x[:2], x[1], 1)

    def forward(self, bottom: Views, top: Views) -> None:
        x = planes(bottom[0].data)
        top[0].data[..., 0] = x @ x.swapaxes(1, 2) / self.size

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            gy = top[0].diff[..., 0]
            both = (gy + gy.swapaxes(1, 2)) / self.size
            self.xp.matmul(both, planes(bottom[0].data), out=planes(bottom[0].diff))

    def flops(self, bottom: Views, top: Views) -> int:
        return int(2 * bottom[0].count * bottom[0].shape[1])


@register("Pairwise")
class Pairwise(Layer):
    """Each of M vectors with each of N: y[m, n] = a[m] · b[n], c₁ a[m] + c₂ b[n], or the larger.

    a: (M, K)  b: (N, K)  y: (M, N, K).  MAX gives the gradient of equal values to b.
    """

    bottoms = 2

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.pairwise_param
        self.operation = p.operation
        self.check(len(p.coeff) in (0, 2), f"give no coeff or two, found {len(p.coeff)}")
        product = self.operation == PairwiseParameter.PROD
        self.check(not (p.coeff and product), "PROD takes no coeff")
        self.coeffs = [self.dtype.type(c) for c in p.coeff or (1, 1)]

    def reshape(self, bottom: Views, top: Views) -> None:
        a, b = bottom[0], bottom[1]
        self.size = a.count_from(1)
        self.check(
            len(a.shape) > 0 and len(b.shape) > 0 and self.size == b.count_from(1),
            f"bottoms must have vectors of one length, found {a.shape} and {b.shape}",
        )
        top[0].reshape(a.shape[0], b.shape[0], self.size)

    def forward(self, bottom: Views, top: Views) -> None:
        a, b = self._pair(bottom)
        if self.operation == PairwiseParameter.PROD:
            self.xp.multiply(a, b, out=top[0].data)
        elif self.operation == PairwiseParameter.SUM:
            self.xp.add(self.coeffs[0] * a, self.coeffs[1] * b, out=top[0].data)
        else:
            self.xp.maximum(a, b, out=top[0].data)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, (a, b) = top[0].diff, self._pair(bottom)
        if self.operation == PairwiseParameter.PROD:
            slopes = [b, a]
        elif self.operation == PairwiseParameter.SUM:
            slopes = self.coeffs
        else:
            slopes = [a > b, ~(a > b)]
        for i, (view, slope) in enumerate(zip(bottom, slopes, strict=True)):
            if propagate_down[i]:
                view.diff.reshape(-1, self.size)[...] = (gy * slope).sum(axis=1 - i)

    def _pair(self, bottom: Views) -> tuple[Array, Array]:
        a, b = (view.data.reshape(-1, self.size) for view in bottom)
        return a[:, None], b[None]
