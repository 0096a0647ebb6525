"""C3D's Convolution3D, Deconvolution3D and Pooling3D: the same over time, height and width."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from pycaffe_dist.aliases import Array, Index
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.convolution import BaseConvolution, Convolution, Deconvolution
from pycaffe_dist.layers.pooling import LOWEST
from pycaffe_dist.layers.windows import Windows
from pycaffe_dist.layers.work import Working
from pycaffe_dist.proto.caffe_pb2 import Convolution3DParameter, ConvolutionParameter


def in_bvlc_words(layer: BaseConvolution) -> None:
    """Say convolution3d_param, or C3D 1.0's additions to convolution_param, in BVLC's words."""
    p, own = layer.layer_param.convolution_param, layer.layer_param.convolution3d_param
    sizes: ConvolutionParameter | Convolution3DParameter = p
    side, pad, stride = max([*p.kernel_size, 0]), max([*p.pad, 0]), max([*p.stride[:1], 1])
    if layer.layer_param.HasField("convolution3d_param"):
        sizes = own
        side, pad, stride = own.kernel_size, own.pad, own.stride
        p.num_output, p.bias_term = own.num_output, own.bias_term
        p.weight_filler.CopyFrom(own.weight_filler)
        p.bias_filler.CopyFrom(own.bias_filler)
    layer.check(bool(side and sizes.kernel_depth), "give kernel_size and kernel_depth, above 0")
    p.kernel_size[:] = [sizes.kernel_depth, side, side]
    p.stride[:] = [sizes.temporal_stride, stride, stride]
    p.pad[:] = [sizes.temporal_pad, pad, pad]
    p.group = 1  # C3D reads group and filter_group, but every filter sees all channels


TEMPORAL = (
    "ConvolutionParameter.kernel_depth",
    "ConvolutionParameter.temporal_stride",
    "ConvolutionParameter.temporal_pad",
    "ConvolutionParameter.filter_group",
)


@register("Convolution3D")
class Convolution3D(Convolution):
    """A Convolution over (length, height, width) of x: (N, C, L, H, W).

    ``kernel_depth``, ``temporal_stride`` and ``temporal_pad`` are for the length.
    """

    ones_count = False  # the bias is (1, 1, 1, 1, num_output) in C3D's files
    fork_fields = TEMPORAL

    def setup(self, bottom: Views, top: Views) -> None:
        in_bvlc_words(self)
        super().setup(bottom, top)


@register("Deconvolution3D")
class Deconvolution3D(Deconvolution):
    """A Deconvolution over (length, height, width) of x: (N, C, L, H, W)."""

    ones_count = False
    fork_fields = TEMPORAL

    def setup(self, bottom: Views, top: Views) -> None:
        in_bvlc_words(self)
        super().setup(bottom, top)


@register("Pooling3D")
class Pooling3D(Working):
    """x: (N, C, L, H, W) to y: (N, C, L′, H′, W′), each side ⌈(size + 2·pad − kernel)/stride⌉ + 1.

    MAX: y = max x;  ∂x = ∂y at every value that is the maximum, even if there are several.
    AVE: y = Σ x / area, where padding counts as area;  ∂x = ∂y / area.
    There is no padding in time; windows may reach over the end.
    """

    fork_fields = ("PoolingParameter.kernel_depth", "PoolingParameter.temporal_stride")

    def setup(self, bottom: Views, top: Views) -> None:
        own = self.layer_param.HasField("pooling3d_param")
        p = self.layer_param.pooling3d_param if own else self.layer_param.pooling_param
        self.maximum = p.pool == p.MAX
        self.check(p.pool in (p.MAX, p.AVE), "knows only MAX and AVE")
        self.check(
            bool(p.kernel_size and p.kernel_depth), "give kernel_size and kernel_depth, above 0"
        )
        self.check(min(p.stride, p.temporal_stride) > 0, "strides must be above 0")
        self.check(not p.pad or not self.maximum, "pad is for AVE only")
        self.windows = Windows(
            (p.kernel_depth, p.kernel_size, p.kernel_size),
            (p.temporal_stride, p.stride, p.stride),
            (0, p.pad, p.pad),
            (1, 1, 1),
        )

    def reshape(self, bottom: Views, top: Views) -> None:
        shape, w = bottom[0].shape, self.windows
        self.check(len(shape) == 5, f"needs a bottom (N, C, L, H, W), found {shape}")
        sides = zip(shape[2:], w.pad, w.kernel, w.stride, strict=True)
        out = [-(-(size + 2 * pad - kernel) // stride) + 1 for size, pad, kernel, stride in sides]
        self.check(min(out) > 0, f"the kernel {w.kernel} does not fit into the bottom {shape}")
        self.windows = w.over(shape[2:], out)
        top[0].reshape(*shape[:2], *out)

    def forward(self, bottom: Views, top: Views) -> None:
        xp, x, y = self.xp, bottom[0].data, top[0].data
        y[...] = LOWEST if self.maximum else 0
        join = xp.maximum if self.maximum else xp.add
        for windows, pixels in self._taps():
            seen = y[windows]
            join(seen, x[pixels], out=seen)
        if not self.maximum:
            y *= self.shares()

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        x, gx, y, gy = bottom[0].data, bottom[0].diff, top[0].data, top[0].diff
        gx[...] = 0
        part = gy if self.maximum else gy * self.shares()
        for windows, pixels in self._taps():
            seen = gx[pixels]
            seen += part[windows] * (x[pixels] == y[windows]) if self.maximum else part[windows]

    def flops(self, bottom: Views, top: Views) -> int:
        depth, height, width = self.windows.kernel
        return top[0].count * depth * height * width

    def _taps(self) -> Iterator[tuple[Index, Index]]:
        """For every place in the kernel the windows that have it, and the pixels they see there."""
        for taps in itertools.product(*(list(self.windows.taps(axis)) for axis in range(3))):
            _, windows, pixels = zip(*taps, strict=True)
            yield (..., *windows), (..., *pixels)

    def shares(self) -> Array:
        """1 / the area of each window, (L′, H′, W′)."""
        w = self.windows
        sides = []
        for axis in range(3):
            begin = w.starts(axis)
            end = np.minimum(begin + w.kernel[axis], w.image[axis] + w.pad[axis])
            sides.append(np.maximum(end - begin, 1))
        areas = sides[0][:, None, None] * sides[1][:, None] * sides[2]
        return self.xp.asarray(1 / areas, self.dtype)
