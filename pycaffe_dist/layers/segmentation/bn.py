"""BN, twice: PSPNet's with running statistics, and SegNet's without."""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.batch_norm import BatchNorm
from pycaffe_dist.layers.work import planes
from pycaffe_dist.proto.caffe_pb2 import TEST, FillerParameter, LayerParameter


class ScaledBatchNorm(BatchNorm):
    """y = γ·x̂ + β with x̂ from a BatchNorm;  ∂γ = Σ ∂y·x̂   ∂β = Σ ∂y   ∂x = γ·(∂x of x̂).

    γ, β: (1, C, 1, 1), the first two parameters.
    """

    learns = True  # γ and β
    ones_count = False  # they are (1, C) in some files

    def add_blobs(self, bottom: Views, *fillers: FillerParameter | None) -> None:
        self._check_axes(bottom[0])
        self.channels = bottom[0].shape[1]
        for filler in fillers:
            self.add_blob((1, self.channels, 1, 1), filler)

    def forward(self, bottom: Views, top: Views) -> None:
        self.normalise(bottom, top)
        y, (scale, shift) = planes(top[0].data), self._affine()
        y *= scale
        y += shift

    def normalise(self, bottom: Views, top: Views) -> None:
        """Write x̂ to the top."""
        super().forward(bottom, top)
        if self.use_global_stats:
            y = planes(top[0].data)
            self.work("normal", y.shape)[...] = y

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy, (scale, _) = planes(top[0].diff), self._affine()
        if self.learns and self.param_propagate_down[0]:
            slope = self.params[0].diff.reshape(-1)
            slope += self.xp.einsum("nci,nci->c", gy, self.normal(bottom, gy.shape))
        if self.learns and self.param_propagate_down[1]:
            shift = self.params[1].diff.reshape(-1)
            shift += self.xp.einsum("nci->c", gy)
        if propagate_down[0]:
            self.go_back(top, bottom)
            gx = planes(bottom[0].diff)
            gx *= scale

    def gives_gradient(self, index: int) -> bool:
        return index < 2 and self.learns and self.param_propagate_down[index]

    def go_back(self, top: Views, bottom: Views) -> None:
        """Write to the bottom what ∂x were if ∂x̂ were the top's."""
        super().backward(top, [True], bottom)

    def normal(self, bottom: Views, shape: tuple[int, ...]) -> Array:
        """x̂ of the last forward."""
        if self.use_global_stats:
            return self.work("normal", shape)
        return self.work("centred", shape) * self._inverse()[:, None]

    def flops(self, bottom: Views, top: Views) -> int:
        return super().flops(bottom, top) + 2 * top[0].count

    def _affine(self) -> tuple[Array, Array]:
        scale, shift = (param.data.reshape(-1, 1) for param in self.params[:2])
        return scale, shift


@register("BN", dialect="psp")
class RunningBN(ScaledBatchNorm):
    """BN of PSPNet and yjxiong's Caffe: y = slope·x̂ + bias, x̂ as BatchNorm's.

    Parameters: slope, bias, mean, variance, all (1, C, 1, 1).  In training the last two become
    momentum·old + (1 − momentum)·the batch's, with the biased variance; they are what TEST and
    ``frozen`` use.  ``frozen`` learns neither slope nor bias.
    """

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.bn_param
        self.momentum, self.eps, self.learns = p.momentum, p.eps, not p.frozen
        self.use_global_stats = p.frozen or self.phase == TEST
        self.follows_batches = not self.use_global_stats
        self.add_blobs(bottom, p.slope_filler, p.bias_filler, None, None)
        if p.frozen and not self.context.dry and not self.layer_param.blobs:
            self.blobs[3].data[...] = 1
        specs = self.layer_param.param
        while len(specs) < 4:
            specs.add()
        for i in range(0 if p.frozen else 2, 4):
            specs[i].lr_mult = specs[i].decay_mult = 0  # whatever the file says

    def statistics(self) -> list[Blob]:
        return list(self.blobs)[2:]

    def _stored(self) -> tuple[Array, Array]:
        mean, variance = (param.data.reshape(-1) for param in self.params[2:])
        return mean, variance

    def _store(self, mean: Array, variance: Array, values: int) -> None:
        for param, new in zip(self.params[2:], (mean, variance), strict=True):
            stored = param.change_data().reshape(-1)
            stored *= self.momentum
            stored += (1 - self.momentum) * new


def _segnet(param: LayerParameter) -> bool:
    given = ("scale_filler", "shift_filler", "bn_mode")
    return any(param.bn_param.HasField(name) for name in given)


@register(
    "BN",
    dialect="segnet",
    when=_segnet,
    why="bn_param has scale_filler, shift_filler or bn_mode",
)
class SegNetBN(ScaledBatchNorm):
    """BN of SegNet: y = scale·x̂ + shift, x̂ by the batch's own statistics, in TEST too.

    Parameters: scale, shift (1, C, 1, 1).  Tops: y, which has four axes, and, if wanted, mean and
    variance (1, C, 1, 1).
    With ``bn_mode: INFERENCE`` x̂ is x: its tools put the statistics into scale and shift.
    """

    tops = (1, 3)
    eps = 1e-9
    use_global_stats = False

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.bn_param
        self.inference = p.bn_mode == p.INFERENCE
        self.check(len(top) == 1 or not self.inference, "INFERENCE has no statistics: give one top")
        self.add_blobs(bottom, p.scale_filler, p.shift_filler)

    def reshape(self, bottom: Views, top: Views) -> None:
        super().reshape(bottom, top)
        shape = bottom[0].shape
        if len(shape) < 4:
            top[0].reshape(*shape, *(1,) * (4 - len(shape)))
        for view in top[1:]:
            view.reshape(1, self.channels, 1, 1)

    def forward(self, bottom: Views, top: Views) -> None:
        super().forward(bottom, top)
        for view, values in zip(top[1:], self.last, strict=False):
            view.data[...] = values.reshape(view.shape)

    def normalise(self, bottom: Views, top: Views) -> None:
        if not self.inference:
            super().normalise(bottom, top)
            return
        self.last: tuple[Array, ...] = ()
        x = planes(bottom[0].data)
        if top[0].blob is bottom[0].blob:
            self.work("input", x.shape)[...] = x
        else:
            planes(top[0].data)[...] = x

    def normal(self, bottom: Views, shape: tuple[int, ...]) -> Array:
        if not self.inference:
            return super().normal(bottom, shape)
        return self.work("input", shape) if "input" in self._rooms else planes(bottom[0].data)

    def go_back(self, top: Views, bottom: Views) -> None:
        if not self.inference:
            super().go_back(top, bottom)
        elif top[0].blob is not bottom[0].blob:
            planes(bottom[0].diff)[...] = planes(top[0].diff)

    def statistics(self) -> list[Blob]:
        return []

    def _store(self, mean: Array, variance: Array, values: int) -> None:
        self.last = mean, variance
