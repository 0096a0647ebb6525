"""L1Loss of FlowNet 2, and of NVIDIA's DetectNet; ChannelNorm."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.loss import Loss


@register("L1Loss", dialect="flownet")
class L1Loss(Loss):
    """Σ |d| / n, d = a − b, or a alone;  ∂a = sign(d)/n, ∂b = −∂a, with the sign of 0 as −1.

    a, b: (N, C, H, W).  Entries that are NaN do not count.  n = N, or with
    ``normalize_by_num_entries`` the entries that count over C.
    With ``l2_per_location``: Σ √(Σ_c d² + ε) / n, over locations, where Σ_c is a mean with
    ``l2_prescale_by_channels``;  ∂a = d / √(…) / n.
    ``plateau`` p: what is smaller than p counts as 0.
    """

    bottoms = (1, 2)
    label_bottoms = ()

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.difference, self.slope = self.work_space(), self.work_space()

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        super().reshape([bottom[0], bottom[-1]], top)
        self.check(
            bottom[-1].shape == shape,
            f"the bottoms must have one shape, found {shape} and {bottom[-1].shape}",
        )
        self.check(len(shape) > 1, f"needs a bottom (N, C, ...), found {shape}")
        self.difference.reshape(*shape)
        self.slope.reshape(*shape)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, p, d = self.xp, self.layer_param.l1_loss_param, self.difference.data
        d[...] = bottom[0].data
        if len(bottom) > 1:
            d -= bottom[1].data
        counts = d == d
        self.divisor: float = len(d)
        if p.normalize_by_num_entries:
            self.divisor = max(float(counts.sum()) / d.shape[1], 1e-30)
        d[...] = xp.where(counts, d, self.dtype.type(0))
        total = self._euclidean(d) if p.l2_per_location else self._absolute(d, counts)
        top[0].data[...] = total / self.divisor

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        weight = top[0].diff / self.dtype.type(self.divisor)
        for view, wanted, sign in zip(bottom, propagate_down, (1, -1), strict=False):
            if wanted:
                self.xp.multiply(self.slope.data, weight * sign, out=view.diff)

    def _absolute(self, d: Array, counts: Array) -> Array:
        plateau = self.layer_param.l1_loss_param.plateau
        if plateau > 0:
            counts &= abs(d) >= plateau
        self.slope.data[...] = self.sign(d) * counts
        return (d * self.slope.data).sum()

    def sign(self, d: Array) -> Array:
        return self.xp.where(d > 0, 1, -1)

    def _euclidean(self, d: Array) -> Array:
        xp, p = self.xp, self.layer_param.l1_loss_param
        share = 1 / d.shape[1] if p.l2_prescale_by_channels else 1
        squares = xp.einsum("nc...,nc...->n...", d, d) * self.dtype.type(share)
        far = squares >= p.plateau**2 if p.plateau > 0 else xp.ones(squares.shape, bool)
        root = xp.sqrt(squares * far + self.dtype.type(p.epsilon))
        self.slope.data[...] = d * (far * self.dtype.type(share) / root)[:, None]
        return root.sum()


@register(
    "L1Loss",
    dialect="nvcaffe",
    when=lambda p: False,
    why="only if asked for, since nothing in a layer tells",
)
class DetectNetL1Loss(L1Loss):
    """Σ |a − b| / N;  ∂a = sign(a − b)/N, ∂b = −∂a, and 0 where a = b."""

    def sign(self, d: Array) -> Array:
        return self.xp.sign(d)


@register("ChannelNorm")
class ChannelNorm(Layer):
    """y = √(Σ_c x²), for every location;  ∂x = ∂y·x / (y + 1e-9).

    x: (N, C, H, W)  y: (N, 1, H, W)
    """

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        top[0].reshape(shape[0], 1, *shape[2:])

    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data
        self.xp.sqrt(self.xp.einsum("nchw,nchw->nhw", x, x), out=top[0].data[:, 0])

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            share = top[0].diff / (top[0].data + self.dtype.type(1e-9))
            self.xp.multiply(bottom[0].data, share, out=bottom[0].diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return 2 * bottom[0].count
