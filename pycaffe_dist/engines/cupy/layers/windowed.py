"""Layers that look through windows: Convolution, Deconvolution, Im2col, Pooling."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.columns import Unrolling
from pycaffe_dist.engines.cupy.launch import Multiplying, OnDevice, accelerates, seed
from pycaffe_dist.layers.convolution import BaseConvolution, Convolution, Deconvolution
from pycaffe_dist.layers.im2col import Im2col
from pycaffe_dist.layers.mobile.depthwise import ConvolutionDepthwise, DepthwiseConvolution
from pycaffe_dist.layers.pooling import Drawn, Expected, Maximum, Mean, Pooling


@accelerates("Im2col")
class DeviceIm2col(OnDevice, Im2col):
    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data.reshape(self._pixels(bottom))
        self._unrolling().to_columns(x, top[0].data, self._steps(x))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gx = bottom[0].diff.reshape(self._pixels(bottom))
        self._unrolling().from_columns(top[0].diff, gx, self._steps(gx))

    def _unrolling(self) -> Unrolling:
        return Unrolling(self.engine, self.windows, self.dtype)

    def _steps(self, x: DeviceArray) -> tuple[int, int]:
        out = prod(self.windows.out)
        return x.shape[1] * prod(self.windows.kernel) * out, out


class DeviceBaseConvolution(Multiplying, BaseConvolution):
    """Each of the three products is computed in the way that the engine has chosen for it."""

    forward_direction = Direction.FORWARD

    def gather(
        self,
        image: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        weights: DeviceArray = None,
    ) -> None:
        weights = self.params[0].data if weights is None else weights
        self._run(Direction.FORWARD, image, weights, out, bias)

    def spread(self, out: DeviceArray, image: DeviceArray, bias: DeviceArray = None) -> None:
        self._run(Direction.DATA, image, self.params[0].data, out, bias)

    def add_weight_gradient(self, image: DeviceArray, out: DeviceArray) -> None:
        self._run(Direction.FILTER, image, self.params[0].diff, out)

    def add_bias_gradient(self, top_diff: DeviceArray) -> None:
        shape = self.images, self.outputs, prod(top_diff.shape[self.axis + 1 :])
        self.sums("channel_sums", shape, top_diff, out=self.params[1].diff, keep=1)

    def computed_by(self) -> tuple[str, str]:
        """The ways of the products that came up so far."""
        ways = {d: self.engine.convolutions.way(self._case(d)) for d in Direction}
        forward = ways.pop(self.forward_direction)
        backward = " / ".join(dict.fromkeys(filter(None, ways.values())))
        return forward or self.engine.name, backward or self.engine.name

    def _case(self, direction: Direction) -> Case:
        sides = self.images, self.image_channels, self.out_channels, self.group
        precision = self.engine.multiply.precision(self.dtype)
        return Case(direction, self.windows, *sides, self.dtype, precision)

    def _run(
        self,
        direction: Direction,
        image: DeviceArray,
        weights: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
    ) -> None:
        arrays = self._as_image(image), weights, self._as_out(out)
        self.engine.convolutions.run(self._case(direction), *arrays, bias, self.rectifies)


@accelerates("Convolution")
class DeviceConvolution(DeviceBaseConvolution, Convolution):
    pass


@accelerates("DepthwiseConvolution")
class DeviceDepthwiseConvolution(DepthwiseConvolution, DeviceConvolution):
    __doc__ = DepthwiseConvolution.__doc__


@accelerates("ConvolutionDepthwise")
class DeviceConvolutionDepthwise(ConvolutionDepthwise, DeviceConvolution):
    __doc__ = ConvolutionDepthwise.__doc__


@accelerates("Deconvolution")
class DeviceDeconvolution(DeviceBaseConvolution, Deconvolution):
    forward_direction = Direction.DATA


@accelerates("Pooling")
class DevicePooling(OnDevice, Pooling):
    def forward(self, bottom: Views, top: Views) -> None:
        x, y = bottom[0].data, top[0].data
        sizes = self._sizes()
        if isinstance(self.method, Maximum):
            mask = self._mask(y.shape)
            self.launch("max_pool_forward", y.size, *sizes, x, y, mask)
            for view in top[1:]:
                self.launch("cast_int", y.size, mask, view.data)
        elif isinstance(self.method, Mean):
            self.launch("ave_pool_forward", y.size, *sizes, x, y)
        elif isinstance(self.method, Drawn):
            part = self.spare("uniform", y.shape)
            self.launch("uniform", y.size, seed(), 0, 0, part)
            mask = self._mask(y.shape)
            self.launch("stochastic_pool_forward", y.size, *sizes, part, x, y, mask)
        else:
            self.launch("stochastic_pool_test", y.size, *sizes, x, y)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if not propagate_down[0]:
            return
        gy, gx = top[0].diff, bottom[0].diff
        if isinstance(self.method, Mean):
            self.launch("ave_pool_backward", gx.size, *self._sizes(), gy, gx)
        elif isinstance(self.method, Expected):
            super().backward(top, propagate_down, bottom)
        else:
            mask = self._mask(gy.shape)
            self.launch("choice_pool_backward", gx.size, *self._sizes(), gy, mask, gx)

    def _mask(self, shape: tuple[int, ...]) -> Any:
        """Where in its channel each window's choice is."""
        return self.kept("mask", shape, np.int32)

    def _sizes(self) -> tuple[int, ...]:
        w = self.windows
        return (*w.image, *w.kernel, *w.pad, *w.stride, *w.out)
