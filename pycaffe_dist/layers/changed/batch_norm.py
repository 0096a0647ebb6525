"""BatchNorm as NVIDIA's, PSPNet's and happynear's forks have it."""

from __future__ import annotations

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.work import planes
from pycaffe_dist.proto.caffe_pb2 import TRAIN, FillerParameter, LayerParameter

LEAST_EPS = 1e-5


@register(
    "BatchNorm",
    dialect="psp",
    when=lambda p: p.batch_norm_param.update_global_stats,
    why="batch_norm_param has update_global_stats",
)
class UpdatingBatchNorm(BatchNorm):
    """BatchNorm that normalises with the stored statistics in TRAIN too, and still updates them."""

    fork_fields = ("BatchNormParameter.update_global_stats",)

    def setup(self, bottom: Views, top: Views) -> None:
        super().setup(bottom, top)
        self.updates = self.layer_param.batch_norm_param.update_global_stats
        self.follows_batches |= self.updates

    def forward(self, bottom: Views, top: Views) -> None:
        if self.updates and self.use_global_stats and self.phase == TRAIN:
            x = planes(bottom[0].data)
            values = x.shape[0] * x.shape[2]
            mean = self.mean_over_ranks(self.xp.einsum("nci->c", x) / values)
            centred = x - mean[:, None]
            square = self.xp.einsum("nci,nci->c", centred, centred) / values
            self._store(mean, self.mean_over_ranks(square), values * self.ranks)
        super().forward(bottom, top)


def _has_scale(param: LayerParameter) -> bool:
    p = param.batch_norm_param
    return p.scale_bias or p.HasField("scale_filler") or p.HasField("bias_filler")


@register(
    "BatchNorm",
    dialect="nvcaffe",
    when=_has_scale,
    why="batch_norm_param has scale_bias, scale_filler or bias_filler",
)
class NvBatchNorm(BatchNorm):
    """y = γ·x̂ + β, x̂ as that of BatchNorm;  ∂γ = Σ x̂·∂y   ∂β = Σ ∂y, ∂x with γ·∂y for ∂y.

    Parameters: μ, σ², a 1 that means nothing and, if ``scale_bias`` or a filler is given, γ and
    β (C,).  A batch's μ and σ² enter the stored
    with the share 1 − ``moving_average_fraction``, those of the first two batches whole.  TEST
    takes the stored as they are.  eps is at least 10⁻⁵.
    """

    fork_fields = (
        "BatchNormParameter.scale_bias",
        "BatchNormParameter.scale_filler",
        "BatchNormParameter.bias_filler",
    )

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.batch_norm_param
        given = [self.layer_param.param[i] for i in range(min(3, len(self.layer_param.param)))]
        for spec in given:
            spec.lr_mult = 0
        super().setup(bottom, top)
        self.eps = max(self.eps, LEAST_EPS)
        self.affine = _has_scale(self.layer_param)
        if self.affine:
            one = FillerParameter(value=1)
            self.add_blob((self.channels,), p.scale_filler if p.HasField("scale_filler") else one)
            self.add_blob((self.channels,), p.bias_filler)
        if not self.context.dry:
            self.blobs[2].data[...] = 1
        self.batches = 0

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        if self.affine:
            y = planes(top[0].data)
            gamma, beta = (param.data[:, None] for param in self.params[3:])
            self.work("normal", y.shape)[...] = y
            y *= gamma
            y += beta

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not self.affine:
            super().backward(top, propagate_down, bottom)
            return
        gy = planes(top[0].diff)
        normal = self.work("normal", gy.shape)
        for param, flag, total in zip(
            self.params[3:],
            self.param_propagate_down[3:],
            (self.xp.einsum("nci,nci->c", gy, normal), self.xp.einsum("nci->c", gy)),
            strict=True,
        ):
            if flag:
                param.diff[...] += total
        if propagate_down[0]:
            gx = planes(bottom[0].diff)
            self._give_back(gy * self.params[3].data[:, None], gx)

    def _give_back(self, g: Array, gx: Array) -> None:
        """∂x from the gradient g of x̂."""
        xp, inverse = self.xp, self._inverse()[:, None]
        if self.use_global_stats:
            xp.multiply(g, inverse, out=gx)
            return
        values = g.shape[0] * g.shape[2]
        normal = self.work("normal", g.shape)
        mean = self.mean_over_ranks(xp.einsum("nci->c", g) / values)
        slope = self.mean_over_ranks(xp.einsum("nci,nci->c", g, normal) / values)
        gx[...] = (g - mean[:, None] - normal * slope[:, None]) * inverse

    def get_state(self) -> Facts:
        return {"batches": self.batches}

    def set_state(self, state: Facts) -> None:
        self.batches = int(state["batches"])

    def _stored(self) -> tuple[Array, Array]:
        return self.params[0].data, self.params[1].data

    def _store(self, mean: Array, variance: Array, values: int) -> None:
        keep = self.moving_average_fraction if self.batches >= 2 else 0
        self.batches += 1
        for param, new in zip(self.params, (mean, variance), strict=False):
            stored = param.change_data()
            stored *= keep
            stored += (1 - keep) * new
