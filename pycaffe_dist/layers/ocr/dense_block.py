"""DenseBlock: many small layers of a DenseNet as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycaffe_dist.aliases import Array, Number
from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.fillers import check_filler, fill
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.convolution import Convolution
from pycaffe_dist.proto.caffe_pb2 import (
    TRAIN,
    ConvolutionParameter,
    FillerParameter,
    LayerParameter,
)
from pycaffe_dist.rng import generator

EPS = 1e-5
AXES = (0, 2, 3)  # of all values of a channel


class Stage:
    """BatchNorm, ReLU and a convolution without bias: x (N, C, H, W) to y (N, M, H, W).

    y = W ∗ max(0, γ·x̂ + β), x̂ = (x − μ)/√(σ² + eps), in training with the unbiased σ².
    ``params``: W, γ, β, and the decaying sums of μ and σ².
    """

    def __init__(
        self, block: DenseBlock, name: str, channels: int, conv: ConvolutionParameter
    ) -> None:
        self.block, self.xp, self.dtype = block, block.xp, block.dtype
        p, home = block.layer_param.denseblock_param, block.context.home
        param = LayerParameter(name=f"{block.name}_{name}", phase=block.phase)
        param.convolution_param.CopyFrom(conv)
        kind = block.context.engine.layer_class("Convolution", Convolution)
        self.convolution: Any = kind(param, block.context)
        inside, out = Blob((1, channels, *block.size), self.dtype), Blob((), self.dtype)
        # As the convolution sees its bottom and top, and as they are written to here.
        self.bottom, self.top = View(inside, home, "diff"), View(out, home, "data")
        self.activation, self.gradient = View(inside, home, "data"), View(out, home, "diff")
        self.convolution.set_up([self.bottom], [self.top])
        shape, one = (1, channels, 1, 1), FillerParameter(value=1)
        fillers = (p.BN_Scaler_Filler, p.BN_Bias_Filler, FillerParameter(), one)
        blobs = [self.convolution.blobs[0], *(block.filled(shape, f) for f in fillers)]
        self.params = [View(blob, home, "diff") for blob in blobs]

    def reshape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of y for x of this shape."""
        self.bottom.blob.reshape(*shape)
        self.convolution.reshape([self.bottom], [self.top])
        return self.top.shape

    def forward(self, x: Array) -> Array:
        _, gamma, beta, means, variances = self.params
        if self.block.phase == TRAIN:
            size = x.size // x.shape[1]
            mean = x.sum(axis=AXES, keepdims=True) / self.dtype.type(size)
            centred = x - mean
            square = (centred * centred).sum(axis=AXES, keepdims=True)
            variance = square / self.dtype.type(max(1, size - 1))
            self.block.remember((means, mean), (variances, variance))
        else:
            mean, variance = (self.block.recall(sums) for sums in (means, variances))
            centred = x - mean
        self.inverse = 1 / self.xp.sqrt(variance + self.dtype.type(EPS))
        self.normal = centred * self.inverse
        self.xp.maximum(self.normal * gamma.data + beta.data, 0, out=self.activation.data)
        self.convolution.forward([self.bottom], [self.top])
        return self.top.data

    def backward(self, gy: Array) -> Array:
        """∂x; the gradients of the parameters are added."""
        _, gamma, beta, _, _ = self.params
        self.gradient.diff[...] = gy
        self.convolution.backward([self.top], [True], [self.bottom])
        g = self.bottom.diff * (self.activation.data > 0)
        slope, total = ((a).sum(axis=AXES, keepdims=True) for a in (g * self.normal, g))
        gamma.diff[...] += slope
        beta.diff[...] += total
        if self.block.phase == TRAIN:
            size = g.size // g.shape[1]
            slope = slope / self.dtype.type(max(1, size - 1))
            g = g - total / self.dtype.type(size) - self.normal * slope
        return g * (gamma.data * self.inverse)


@register("DenseBlock")
class DenseBlock(Layer):
    """``numTransition`` L times: BatchNorm, ReLU and a convolution to ``growthRate`` channels, put
    behind the channels there are: x (N, C, H, W) to y (N, C + L·growth, H, W).

    With ``use_BC`` another BatchNorm, ReLU and 1 × 1 convolution to 4·growth channels come first.
    Parameters: L filters; γ, β, means, variances, L of each; with BC the 1 × 1 filters, and γ to
    variances of what is behind them; at last the decaying count by which TEST divides means and
    variances.  A forward of TRAIN multiplies these sums by ``moving_average_fraction`` first; their
    lr_mult is always 0.  ``use_dropout`` sets ``dropout_amount`` of each convolution's values to 0
    in TRAIN.
    """

    follows_batches = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.denseblock_param
        shape = bottom[0].shape
        self.check(len(shape) == 4, f"needs a bottom (N, C, H, W), found {shape}")
        self.steps, self.growth = p.numTransition, p.growthRate
        self.first, self.size = shape[1], shape[2:]
        self.stages = [self._stages(t) for t in range(self.steps)]
        # The filters of a step stand in the reverse order of its stages.
        for i in range(2 if p.use_BC else 1):
            for stages in self.stages:
                self.adopt(stages[-1 - i].params[0].blob)
            for kind in range(1, 5):
                for stages in self.stages:
                    self.adopt(stages[i].params[kind].blob)
        self.add_blob((1,))
        self._fix_rates()

    def _stages(self, t: int) -> list[Stage]:
        """Those of step t, in the order of computing."""
        p, channels = self.layer_param.denseblock_param, self.first + t * self.growth
        wide = ConvolutionParameter(num_output=self.growth, bias_term=False)
        wide.kernel_h, wide.kernel_w, wide.pad_h, wide.pad_w = (
            p.filter_H,
            p.filter_W,
            p.pad_h,
            p.pad_w,
        )
        wide.stride_h, wide.stride_w = p.conv_verticalStride, p.conv_horizentalStride
        wide.weight_filler.CopyFrom(p.Filter_Filler)
        if not p.use_BC:
            return [Stage(self, f"{t}", channels, wide)]
        narrow = ConvolutionParameter(num_output=4 * self.growth, bias_term=False)
        narrow.kernel_size.append(1)
        narrow.weight_filler.CopyFrom(p.Filter_Filler)
        bottleneck = Stage(self, f"{t}_bc", channels, narrow)
        return [bottleneck, Stage(self, f"{t}", 4 * self.growth, wide)]

    def statistics(self) -> list[Blob]:
        specs = self.layer_param.param
        return [blob for blob, spec in zip(self.blobs, specs, strict=True) if not spec.lr_mult]

    def _fix_rates(self) -> None:
        """Statistics are not learned, whatever the file says; all else is."""
        specs = self.layer_param.param
        while len(specs) < len(self.blobs):
            specs.add()
        for i, spec in enumerate(specs[: len(self.blobs)]):
            learns = i < len(self.blobs) - 1 and i % (5 * self.steps) < 3 * self.steps
            spec.lr_mult = 1 if learns else 0
            spec.decay_mult = spec.decay_mult if learns else 0

    def reshape(self, bottom: Views, top: Views) -> None:
        n, channels, h, w = bottom[0].shape
        self.check(
            channels == self.first,
            f"its filters are for {self.first} channels, the bottom is {bottom[0].shape}",
        )
        for stages in self.stages:
            shape: tuple[int, ...] = (n, channels, h, w)
            for stage in stages:
                shape = stage.reshape(shape)
            self.check(
                shape == (n, self.growth, h, w),
                f"its convolutions must keep the size {(h, w)}, they make it {shape[2:]}",
            )
            channels += self.growth
        top[0].reshape(n, channels, h, w)

    def forward(self, bottom: Views, top: Views) -> None:
        y = top[0].data
        y[:, : self.first] = bottom[0].data
        if self.phase == TRAIN:
            self.remember((self.params[-1], 1))
        self.masks: list[Number] = []
        for begin, end, stages in self.steps_in_turn():
            out = y[:, :begin]
            for stage in stages:
                out = stage.forward(out)
            y[:, begin:end] = self._dropped(out)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        whole = top[0].diff.copy()
        for t, (begin, end, stages) in reversed([*enumerate(self.steps_in_turn())]):
            g = whole[:, begin:end] * self.masks[t]
            for stage in reversed(stages):
                g = stage.backward(g)
            whole[:, :begin] += g
        if propagate_down[0]:
            bottom[0].diff[...] = whole[:, : self.first]

    def flops(self, bottom: Views, top: Views) -> int:
        stages = [stage for stages in self.stages for stage in stages]
        return sum(
            6 * stage.bottom.count + stage.convolution.flops([stage.bottom], [stage.top])
            for stage in stages
        )

    def steps_in_turn(self) -> list[tuple[int, int, list[Stage]]]:
        """Of each step, the channels it makes, and its stages."""
        begins = [self.first + t * self.growth for t in range(self.steps)]
        return [(b, b + self.growth, s) for b, s in zip(begins, self.stages, strict=True)]

    def _dropped(self, out: Array) -> Array:
        p = self.layer_param.denseblock_param
        mask: Number = self.dtype.type(1)
        if p.use_dropout and self.phase == TRAIN:
            kept = generator().random_sample(out.shape) >= p.dropout_amount
            mask = self.xp.asarray((kept / (1 - p.dropout_amount)).astype(self.dtype))
        self.masks.append(mask)
        return out * mask

    # -- for the stages ------------------------------------------------------------------------

    def filled(self, shape: Sequence[int], filler: FillerParameter) -> Blob:
        blob = Blob(shape, self.dtype)
        if self.context.dry:
            check_filler(filler, blob.shape)
        else:
            fill(filler, blob.data)
        return blob

    def remember(self, *news: tuple[View, Number]) -> None:
        """Add to decaying sums."""
        keep = self.dtype.type(self.layer_param.denseblock_param.moving_average_fraction)
        for sums, new in news:
            stored = sums.change_data()
            stored *= keep
            stored += new

    def recall(self, sums: View) -> Array:
        count = float(self.params[-1].data[0])
        return sums.data * self.dtype.type(1 / count if count else 0)
