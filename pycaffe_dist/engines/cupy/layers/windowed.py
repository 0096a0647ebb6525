"""Layers that look through windows: Convolution, Deconvolution, Im2col, Pooling."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.cupy.launch import OnDevice, accelerates, seed, split
from pycaffe_dist.layers.convolution import BaseConvolution, Convolution, Deconvolution
from pycaffe_dist.layers.im2col import Im2col
from pycaffe_dist.layers.mobile.depthwise import ConvolutionDepthwise, DepthwiseConvolution
from pycaffe_dist.layers.pooling import Drawn, Expected, Maximum, Mean, Pooling
from pycaffe_dist.layers.windows import Windows, pieces

WORKSPACE = 256 << 20  # bytes of columns that are made at a time
LARGE = 128  # windows of an image that fill a tile of a product on a GPU


def sizes(w: Windows) -> tuple[int, ...]:
    """What kernels are told of windows."""
    return (*w.image, *w.kernel, *w.pad, *w.stride, *w.dilation, *w.out)


class Columns(OnDevice):
    """im2col and col2im, of two axes or any number of them."""

    def to_columns(
        self, windows: Windows, x: DeviceArray, columns: DeviceArray, steps: tuple[int, int]
    ) -> None:
        """From x, (N, C, *image), to columns; ``steps``: from image to image, from row to row."""
        n = x.shape[0] * x.shape[1] * prod(windows.out)
        self._launch("im2col", windows, n, x.shape[1], steps, x, columns)

    def from_columns(
        self, windows: Windows, columns: DeviceArray, x: DeviceArray, steps: tuple[int, int]
    ) -> None:
        """Fill x with the sum, for each pixel, over the windows that see it."""
        self._launch("col2im", windows, x.size, x.shape[1], steps, columns, x)

    def _launch(
        self,
        name: str,
        w: Windows,
        n: int,
        channels: int,
        steps: tuple[int, int],
        a: DeviceArray,
        b: DeviceArray,
    ) -> None:
        if len(w.image) == 2:
            self.launch(name, n, channels, *sizes(w), *steps, a, b)
        else:
            geometry = self.constants(sizes(w))
            self.launch(f"{name}_nd", n, len(w.image), geometry, channels, *steps, a, b)


@accelerates("Im2col")
class DeviceIm2col(Columns, Im2col):
    def forward(self, bottom: Views, top: Views) -> None:
        x = bottom[0].data.reshape(self._pixels(bottom))
        self.to_columns(self.windows, x, top[0].data, self._steps(x))

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gx = bottom[0].diff.reshape(self._pixels(bottom))
        self.from_columns(self.windows, top[0].diff, gx, self._steps(gx))

    def _steps(self, x: DeviceArray) -> tuple[int, int]:
        out = prod(self.windows.out)
        return x.shape[1] * prod(self.windows.kernel) * out, out


class DeviceBaseConvolution(Columns, BaseConvolution):
    """Columns and products of them.

    Products are made image by image in one call of cuBLAS, which gives images as they are; where
    images are small, of many side by side, (C·Πkernel, images, Πout), in one large product.
    1 × 1 windows need no columns.
    """

    def gather(
        self,
        image: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        weights: DeviceArray = None,
    ) -> None:
        weights = self._by_group(self.params[0].data if weights is None else weights)
        image, out = self._as_image(image), self._as_out(out)
        for images in self._chunks():
            x, y = image[images], out[images]
            if self._one_by_one:
                self._multiply(weights, self._each_seen(x), self._each(y))
                continue
            product = self._side_by_side("product", y, fill=False)
            self._multiply(weights, self._columns_of(x, each=False), self._matrices(product))
            self._back(product, y)
        self._add_bias(out, bias)

    def spread(self, out: DeviceArray, image: DeviceArray, bias: DeviceArray = None) -> None:
        weights = self._by_group(self.params[0].data).swapaxes(1, 2)
        image, out = self._as_image(image), self._as_out(out)
        for images in self._chunks():
            x, y = image[images], out[images]
            if self.windows.identity:
                self._multiply(weights, self._each(y), self._each(x))
                continue
            columns = self._column_room(x, self._one_by_one)
            if self._one_by_one:
                self._multiply(weights, self._each(y), self._each(columns))
            else:
                factor = self._matrices(self._side_by_side("product", y))
                self._multiply(weights, factor, self._matrices(columns))
            self.from_columns(self.windows, columns, x, self._steps(x, self._one_by_one))
        self._add_bias(image, bias)

    def add_weight_gradient(self, image: DeviceArray, out: DeviceArray) -> None:
        total = self._by_group(self.params[0].diff)
        image, out = self._as_image(image), self._as_out(out)
        swapped = out[:1].size + (image[:1].size if self.windows.identity else 0)
        for images in self._chunks(swapped):
            x, y = image[images], out[images]
            if total.size < swapped:  # a gradient for each image is less than to move the images
                self._add_each(y, x, total)
                continue
            if self.windows.identity:
                columns = self._matrices(self._side_by_side("columns", x))
            else:
                columns = self._columns_of(x, each=False)
            factor = self._matrices(self._side_by_side("product", y))
            self._multiply(factor, columns.swapaxes(1, 2), total, add=True)

    def _add_each(self, y: DeviceArray, x: DeviceArray, total: DeviceArray) -> None:
        """The gradients of images one by one, and their sum."""
        if len(x) == 1:
            self._multiply(self._each(y)[0], self._each_seen(x)[0].swapaxes(1, 2), total, add=True)
            return
        gradients = self.spare("gradients", (len(x), *total.shape))
        self._multiply(self._each(y), self._each_seen(x).swapaxes(2, 3), gradients)
        self.launch("add_parts", total.size, len(x), gradients, total)

    def add_bias_gradient(self, top_diff: DeviceArray) -> None:
        shape = self.images, self.outputs, prod(top_diff.shape[self.axis + 1 :])
        self.sums("channel_sums", shape, top_diff, out=self.params[1].diff, keep=1)

    def _add_bias(self, y: DeviceArray, bias: DeviceArray) -> None:
        if bias is not None:
            self.launch("bias_forward", y.size, y.shape[1], prod(y.shape[2:]), y, bias, y)

    def _multiply(
        self, a: DeviceArray, b: DeviceArray, out: DeviceArray, add: bool = False
    ) -> None:
        """A product for each group: the last but three axes are (…, group, rows, columns)."""
        for g in range(self.group):
            left, right, result = (x[..., g, :, :] for x in (a, b, out))
            self.engine.multiply(left, right, result, add)

    # -- columns -----------------------------------------------------------------------------

    @property
    def _one_by_one(self) -> bool:
        """Whether products of images are large enough each."""
        return self.windows.identity or prod(self.windows.out) >= LARGE

    def _chunks(self, room: int = 0) -> Iterator[slice]:
        """Images whose columns, or other room, fit the work space together."""
        values = room if self.windows.identity else self._column_values() * prod(self.windows.out)
        most = WORKSPACE // (values * self.dtype.itemsize) if values else self.images
        return pieces(self.images, max(1, most))

    def _column_room(self, x: DeviceArray, each: bool) -> Any:
        """For columns of images: (images, C·Πkernel, Πout), or side by side."""
        shape = len(x), self._column_values()
        return self.spare("columns", (*(shape if each else shape[::-1]), prod(self.windows.out)))

    def _columns_of(self, x: DeviceArray, each: bool) -> Any:
        columns = self._column_room(x, each)
        self.to_columns(self.windows, x, columns, self._steps(x, each))
        return self._each(columns) if each else self._matrices(columns)

    def _each_seen(self, x: DeviceArray) -> Any:
        """What windows see of each image: the image itself, or its columns."""
        return self._each(x) if self.windows.identity else self._columns_of(x, each=True)

    def _steps(self, x: DeviceArray, each: bool) -> tuple[int, int]:
        """From image to image and from row to row, of columns one by one or side by side."""
        out = prod(self.windows.out)
        return (self._column_values() * out, out) if each else (out, len(x) * out)

    # -- images one by one, and side by side -------------------------------------------------

    def _each(self, x: DeviceArray) -> Any:
        """(N, C, …) as (N, group, C/group, pixels): a matrix for each image and group."""
        return x.reshape(len(x), self.group, x.shape[1] // self.group, prod(x.shape[2:]))

    def _matrices(self, x: DeviceArray) -> Any:
        """(C, N, pixels) as (group, C/group, N·pixels)."""
        return x.reshape(self.group, len(x) // self.group, x.shape[1] * x.shape[2])

    def _side_by_side(self, name: str, x: DeviceArray, fill: bool = True) -> Any:
        """(N, C, …) as (C, N, pixels): the array itself if it is one image."""
        count, channels, pixels = len(x), x.shape[1], prod(x.shape[2:])
        if count == 1:
            return x.reshape(channels, 1, pixels)
        room = self.spare(name, (channels, count, pixels))
        if fill:
            self.launch("swap_axes", x.size, count, channels, pixels, x, room)
        return room

    def _back(self, room: DeviceArray, x: DeviceArray) -> None:
        """From side by side to one by one."""
        if len(x) > 1:
            channels, count, pixels = room.shape
            self.launch("swap_axes", x.size, channels, count, pixels, room, x)


class Depthwise(DeviceBaseConvolution):
    """Groups of one channel of a plane image are convolved as they are: no columns are made."""

    @property
    def depthwise(self) -> bool:
        return self.image_channels == self.group > 1 and len(self.windows.image) == 2

    def gather(
        self,
        image: DeviceArray,
        out: DeviceArray,
        bias: DeviceArray = None,
        weights: DeviceArray = None,
    ) -> None:
        if not self.depthwise:
            super().gather(image, out, bias, weights)
            return
        weights = self.params[0].data if weights is None else weights
        self.launch("depthwise_forward", out.size, *self._shape(), image, weights, out)
        self._add_bias(self._as_out(out), bias)

    def spread(self, out: DeviceArray, image: DeviceArray, bias: DeviceArray = None) -> None:
        if not self.depthwise:
            super().spread(out, image, bias)
            return
        weights = self.params[0].data
        self.launch("depthwise_backward", image.size, *self._shape(), out, weights, image)
        self._add_bias(self._as_image(image), bias)

    def add_weight_gradient(self, image: DeviceArray, out: DeviceArray) -> None:
        if not self.depthwise:
            super().add_weight_gradient(image, out)
            return
        total = self.params[0].diff
        splits = split(self.images * prod(self.windows.out), total.size)
        partial = self.spare("partial", (total.size * splits,))
        shape = splits, self.images, *self._shape()
        self.launch("depthwise_weight_sums", partial.size, *shape, image, out, partial)
        self.launch("finish_sums", total.size, splits, 1, 1, partial, total)

    def _shape(self) -> tuple[int, ...]:
        return self.group, self.out_channels // self.group, *sizes(self.windows)


@accelerates("Convolution")
class DeviceConvolution(Depthwise, Convolution):
    pass


@accelerates("DepthwiseConvolution")
class DeviceDepthwiseConvolution(DepthwiseConvolution, DeviceConvolution):
    __doc__ = DepthwiseConvolution.__doc__


@accelerates("ConvolutionDepthwise")
class DeviceConvolutionDepthwise(ConvolutionDepthwise, DeviceConvolution):
    __doc__ = ConvolutionDepthwise.__doc__


@accelerates("Deconvolution")
class DeviceDeconvolution(Depthwise, Deconvolution):
    pass


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
