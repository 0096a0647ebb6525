"""BatchNorm."""

from __future__ import annotations

from collections.abc import Callable

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.work import Working, planes
from pycaffe_dist.proto.caffe_pb2 import TEST


@register("BatchNorm")
class BatchNorm(Working):
    """y = (x − μ) / √(σ² + eps), for each channel; a Scale behind it brings γ and β.

    x, y: (N, C, …)  μ, σ²: (C,), of the batch, or the stored ones with ``use_global_stats``,
    which is what TEST does if nothing is said.

    Three parameters hold decaying sums over all batches seen, m the values of a channel in one:
    Σ μ: (C,)   Σ σ²·m/(m − 1): (C,)   Σ 1: (1,), by which the other two are divided for use.
    No solver may change them, so the layer gives each an lr_mult of 0.

    ∂x = (∂y − mean(∂y) − y·mean(∂y·y)) / √(σ² + eps), with stored statistics ∂y / √(σ² + eps),
    whether it is asked for or not.

    Where ``ranks`` nets share a batch, ``mean_over_ranks`` takes means of the batch from those of
    its parts, so that statistics and gradients are those of the whole (``share_batch``).
    """

    ranks = 1
    mean_over_ranks: Callable[[Array], Array] = staticmethod(lambda array: array)

    def share_batch(self, ranks: int, mean_over_ranks: Callable[[Array], Array]) -> None:
        """From the next pass on, the batch is one of so many parts."""
        self.ranks, self.mean_over_ranks = ranks, mean_over_ranks

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.batch_norm_param
        given = p.HasField("use_global_stats")
        self.use_global_stats = p.use_global_stats if given else self.phase == TEST
        self.remembers = self.follows_batches = not self.use_global_stats
        self.moving_average_fraction = p.moving_average_fraction
        self.eps = p.eps
        self._check_axes(bottom[0])
        self.channels = bottom[0].shape[1]
        specs = self.layer_param.param
        for i, shape in enumerate([(self.channels,), (self.channels,), (1,)]):
            self.add_blob(shape)
            if i == len(specs):
                specs.add(lr_mult=0)
            self.check(
                specs[i].lr_mult == 0,
                f"param {i} has lr_mult {specs[i].lr_mult:g}; statistics are not learned by a "
                "solver: leave the `param` out or set lr_mult: 0",
            )

    def reshape(self, bottom: Views, top: Views) -> None:
        self._check_axes(bottom[0])
        self.check(
            bottom[0].shape[1] == self.channels,
            f"its statistics are of {self.channels} channels, the bottom is {bottom[0].shape}",
        )
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Views, top: Views) -> None:
        x, y = planes(bottom[0].data), planes(top[0].data)
        if self.use_global_stats:
            mean, variance = self._stored()
            centred = self.xp.subtract(x, mean[:, None], out=y)
        else:
            values = x.shape[0] * x.shape[2]
            mean = self.mean_over_ranks(self.xp.einsum("nci->c", x) / values)
            # Kept for backward: layers in place behind this one will change y.
            centred = self.work("centred", x.shape)
            self.xp.subtract(x, mean[:, None], out=centred)
            square = self.xp.einsum("nci,nci->c", centred, centred) / values
            variance = self.mean_over_ranks(square)
            self._store(mean, variance, values * self.ranks)
        inverse = self._inverse()
        inverse[...] = 1 / self.xp.sqrt(variance + self.eps)
        self.xp.multiply(centred, inverse[:, None], out=y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, gx, inverse = planes(top[0].diff), planes(bottom[0].diff), self._inverse()
        if self.use_global_stats:
            self.xp.multiply(gy, inverse[:, None], out=gx)
            return
        values = gy.shape[0] * gy.shape[2]
        centred = self.work("centred", gy.shape)
        mean = self.xp.einsum("nci->c", gy) / values
        slope = self.xp.einsum("nci,nci->c", gy, centred) * inverse**2 / values
        mean, slope = self.mean_over_ranks(self.xp.stack([mean, slope]))
        in_place = top[0].blob is bottom[0].blob
        part = self.work("part", gy.shape) if in_place else gx
        self.xp.multiply(centred, slope[:, None], out=part)
        part += mean[:, None]
        self.xp.subtract(gy, part, out=gx)
        gx *= inverse[:, None]

    def gives_gradient(self, index: int) -> bool:
        return False  # statistics, not even by force_backward

    def flops(self, bottom: Views, top: Views) -> int:
        return (2 if self.use_global_stats else 5) * top[0].count

    def _check_axes(self, x: View) -> None:
        self.check(len(x.shape) >= 2, f"needs 2 axes or more, the bottom is {x.shape}")

    def _inverse(self) -> Array:
        """1 / √(σ² + eps) of the last forward."""
        return self.work("inverse", (self.channels,))

    def _stored(self) -> tuple[Array, Array]:
        means, variances, total = (param.data for param in self.params)
        factor = 1 / float(total[0]) if total[0] else 0.0
        return means * factor, variances * factor

    def _store(self, mean: Array, variance: Array, values: int) -> None:
        unbiased = variance * (values / (values - 1)) if values > 1 else variance
        for param, new in zip(self.params, (mean, unbiased, 1), strict=True):
            stored = param.change_data()
            stored *= self.moving_average_fraction
            stored += new
