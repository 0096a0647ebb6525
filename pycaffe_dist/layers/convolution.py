"""Convolution and Deconvolution: each is the other's transpose."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.layer import Layer, register
from pycaffe_dist.layers.windows import Sizes, Windows, pieces, read_windows, scratch

WORKSPACE = 32 << 20  # bytes of columns that are made at a time
# Images are taken together until a matrix product has so many columns, or values in them.
COLUMNS, VALUES = 1 << 10, 1 << 20


class BaseConvolution(Layer):
    """Between an image (N, C, *image) and what windows over it give, (N, M, *out).

    columns: (C/group · Πkernel, N · Πout), made from an image or added back to one
    W: (M/group, C/group · Πkernel), for each group, in a blob (M, C/group, *kernel)
    gather: out = W columns     spread: columns = Wᵀ out     ∂W = ∂out columnsᵀ
    """

    bottoms = (1, None)
    tops = (1, None)
    equal_counts = True

    def setup(self, bottom: Views, top: Views) -> None:
        p = self.layer_param.convolution_param
        shape = bottom[0].shape
        self.axis = bottom[0].axis(p.axis)
        self.spatial = len(shape) - self.axis - 1
        self.channels, self.outputs, self.group = shape[self.axis], p.num_output, p.group
        self.check(self.outputs > 0, "num_output must be above 0")
        self.check(
            self.group > 0 and not self.channels % self.group and not self.outputs % self.group,
            f"{self.channels} channels and num_output {self.outputs} must both be multiples of "
            f"group {self.group}",
        )
        windows = read_windows(self, self.spatial)
        self.out_channels, self.image_channels = self.sides()
        self.add_blob(
            (self.out_channels, self.image_channels // self.group, *windows.kernel),
            p.weight_filler,
        )
        if p.bias_term:
            self.add_blob((self.outputs,), p.bias_filler)
        # No spatial axes are computed as one of size 1.
        self.windows = windows if self.spatial else Windows((1,), (1,), (0,), (1,))

    def reshape(self, bottom: Views, top: Views) -> None:
        shape = bottom[0].shape
        axes = self.axis + 1 + self.spatial
        self.check(len(shape) == axes, f"was set up for {axes} axes, the bottom is {shape}")
        self.check(
            shape[self.axis] == self.channels,
            f"its weights are for {self.channels} channels, the bottom is {shape}",
        )
        for view in bottom[1:]:
            self.check(view.shape == shape, f"the bottoms differ: {shape} and {view.shape}")
        self.images = bottom[0].count_from(0, self.axis)
        sizes = self.fit(shape[self.axis + 1 :] or (1,))
        if min(sizes) <= 0:
            kernel, pad = self.windows.kernel, self.windows.pad
            raise self.error(
                f"the kernel {kernel} with pad {pad} leaves no output for the bottom {shape}"
            )
        for view in top:
            view.reshape(*shape[: self.axis], self.outputs, *sizes[: self.spatial])

    def sides(self) -> tuple[int, int]:
        """M and C."""
        raise NotImplementedError

    def fit(self, size: Sizes) -> Sizes:
        """Lay the windows for bottoms of this size; the size of the tops."""
        raise NotImplementedError

    # -- the three products ------------------------------------------------------------------

    def gather(
        self, image: Array, out: Array, bias: Array | None = None, weights: Array | None = None
    ) -> None:
        """Fill ``out`` with W columns + b, where W is the layer's own unless it is given."""
        weights = self._by_group(self.params[0].data if weights is None else weights)
        image, out = self._as_image(image), self._as_out(out)
        for images, rows, columns in self._columns(image):
            part = out[images, :, rows]
            product = self._room(part)
            self.xp.matmul(weights, columns, out=product)
            if len(part) > 1:
                part[...] = self._unfold(product, part)
            if bias is not None:
                part += self._per_channel(bias)

    def spread(self, out: Array, image: Array, bias: Array | None = None) -> None:
        """Fill the image with the columns Wᵀ out, each value added to its pixel, + b."""
        weights = self._by_group(self.params[0].data).swapaxes(1, 2)
        image, out = self._as_image(image), self._as_out(out)
        for images in self._images():
            pixels = image[images]
            if self._is_its_columns(pixels):
                self.xp.matmul(weights, self._fold(out[images]), out=self._by_group(pixels[0]))
            else:
                pixels[...] = 0
                self._spread_by_rows(weights, out[images], pixels)
            if bias is not None:
                pixels += self._per_channel(bias)

    def add_weight_gradient(self, image: Array, out: Array) -> None:
        """∂W += out columnsᵀ"""
        self.sum_weight_gradient(image, out, self.params[0].diff)

    def sum_weight_gradient(self, image: Array, out: Array, total: Array) -> None:
        """Total += out columnsᵀ"""
        total = self._by_group(total)
        product = scratch(self.xp, "weights", total.shape, self.dtype)
        image, out = self._as_image(image), self._as_out(out)
        for images, rows, columns in self._columns(image):
            factor = self._fold(out[images, :, rows])
            self.xp.matmul(factor, columns.swapaxes(1, 2), out=product)
            total += product

    def add_bias_gradient(self, top_diff: Array) -> None:
        """∂b += Σ ∂y over images and pixels"""
        pixels = top_diff.size // max(1, self.images * self.outputs)
        by_channel = top_diff.reshape(self.images, self.outputs, pixels)
        self.params[1].diff[...] += by_channel.sum(axis=2).sum(axis=0)

    # -- columns -----------------------------------------------------------------------------

    def _columns(self, image: Array) -> Iterator[tuple[slice, slice, Array]]:
        """For some images and rows of windows at a time, what the windows see, by group."""
        axes = len(self.windows.out)
        for images in self._images():
            pixels = image[images]
            if self._is_its_columns(pixels):
                yield images, slice(None), self._by_group(pixels[0])
                continue
            seen = self.xp.moveaxis(self.windows.view(self.xp, pixels), 0, 1 + axes)
            for rows in self._rows():
                part = seen[(..., rows, *[slice(None)] * (axes - 1))]
                columns = scratch(self.xp, "columns", part.shape, self.dtype)
                columns[...] = part
                yield images, rows, columns.reshape(self.group, -1, prod(part.shape[1 + axes :]))

    def _spread_by_rows(self, weights: Array, out: Array, pixels: Array) -> None:
        axes = len(self.windows.out)
        # With one channel a group (depthwise) the product has nothing to sum over.
        product = self.xp.matmul if self.out_channels > self.group else self.xp.multiply
        for rows in self._rows():
            factor = self._fold(out[:, :, rows])
            sizes = (rows.stop - rows.start, *self.windows.out[1:])
            shape = (self.image_channels, *self.windows.kernel, len(pixels), *sizes)
            columns = scratch(self.xp, "columns", shape, self.dtype)
            by_group = columns.reshape(self.group, -1, factor.shape[-1])
            product(weights, factor, out=by_group)
            columns = self.xp.moveaxis(columns, 1 + axes, 0)
            self.windows.add_back(self.xp, columns, pixels, rows)

    def _images(self) -> Iterator[slice]:
        """Images that are computed together: several if they are small."""
        windows = prod(self.windows.out)
        values = self._column_values() * windows
        several = COLUMNS // windows
        if not self.windows.identity:
            several = max(several, VALUES // values)
        return pieces(self.images, min(several, self._fitting() // values))

    def _rows(self) -> Iterator[slice]:
        """Rows of windows whose columns fit the work space together."""
        rows = self.windows.out[0]
        values = self._column_values() * prod(self.windows.out[1:])
        return pieces(rows, self._fitting() // values)

    def _column_values(self) -> int:
        return self.image_channels * prod(self.windows.kernel)

    def _fitting(self) -> int:
        return int(WORKSPACE // self.dtype.itemsize)

    def _is_its_columns(self, pixels: Array) -> bool:
        return self.windows.identity and len(pixels) == 1

    # -- shapes ------------------------------------------------------------------------------

    def _as_image(self, array: Array) -> Array:
        return array.reshape(self.images, self.image_channels, *self.windows.image)

    def _as_out(self, array: Array) -> Array:
        return array.reshape(self.images, self.out_channels, *self.windows.out)

    def _by_group(self, array: Array) -> Array:
        """Weights (M, C/group, *kernel) or one image's (C, *image) as a matrix for each group."""
        first = len(array) // self.group
        return array.reshape(self.group, first, -1)

    def _per_channel(self, bias: Array) -> Array:
        return bias.reshape(-1, *[1] * len(self.windows.out))

    def _room(self, part: Array) -> Array:
        """Room for some images' ``out`` as a matrix for each group: in place if it is one image."""
        images, channels, *sizes = part.shape
        if images == 1:
            return self._by_group(part[0])
        shape = (self.group, channels // self.group, images * prod(sizes))
        return scratch(self.xp, "out", shape, self.dtype)

    def _fold(self, part: Array) -> Array:
        room = self._room(part)
        if len(part) > 1:
            self._unfold(room, part)[...] = part
        return room

    def _unfold(self, room: Array, part: Array) -> Array:
        """A view of the matrices in the order of the images."""
        images, channels, *sizes = part.shape
        return self.xp.moveaxis(room.reshape(channels, images, *sizes), 1, 0)


@register("Convolution")
class Convolution(BaseConvolution):
    """y[o] = Σ W[k] x[o·stride − pad + k·dilation] + b: correlation, the kernel is not flipped.

    x: (N…, C, *image)  W: (M, C/group, *kernel)  b: (M,)  y: (N…, M, *out)
    Several bottoms share the weights.
    """

    def sides(self) -> tuple[int, int]:
        return self.outputs, self.channels

    def fit(self, size: Sizes) -> Sizes:
        self.windows = self.windows.over(size, self.windows.fitting(size))
        return self.windows.out

    def forward(self, bottom: Views, top: Views) -> None:
        bias = self.params[1].data if len(self.params) > 1 else None
        for x, y in zip(bottom, top, strict=True):
            self.gather(x.data, y.data, bias)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for x, y, down in zip(bottom, top, propagate_down, strict=True):
            if len(self.params) > 1 and self.param_propagate_down[1]:
                self.add_bias_gradient(y.diff)
            if self.param_propagate_down[0]:
                self.add_weight_gradient(x.data, y.diff)
            if down:
                self.spread(y.diff, x.diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return sum(2 * y.count * self.params[0].count_from(1) for y in top)


@register("Deconvolution")
class Deconvolution(BaseConvolution):
    """y[i·stride − pad + k·dilation] += Wᵀ[k] x[i], + b: a convolution's backward as forward.

    x: (N…, M, *out)  W: (M, C/group, *kernel)  b: (C,)  y: (N…, C, *image)
    """

    def sides(self) -> tuple[int, int]:
        return self.channels, self.outputs

    def fit(self, size: Sizes) -> Sizes:
        self.windows = self.windows.over(self.windows.covered(size), size)
        return self.windows.image

    def forward(self, bottom: Views, top: Views) -> None:
        bias = self.params[1].data if len(self.params) > 1 else None
        for x, y in zip(bottom, top, strict=True):
            self.spread(x.data, y.data, bias)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for x, y, down in zip(bottom, top, propagate_down, strict=True):
            if len(self.params) > 1 and self.param_propagate_down[1]:
                self.add_bias_gradient(y.diff)
            if self.param_propagate_down[0]:
                self.add_weight_gradient(y.diff, x.data)
            if down:
                self.gather(y.diff, x.diff)

    def flops(self, bottom: Views, top: Views) -> int:
        return sum(2 * x.count * self.params[0].count_from(1) for x in bottom)
