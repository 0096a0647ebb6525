"""Convolution and Deconvolution: oneDNN's, Winograd's, or im2col and BLAS, whichever is fastest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.onednn import library
from pycaffe_dist.engines.onednn.accelerated import Accelerated, add_gradient, gradient_room
from pycaffe_dist.engines.onednn.arithmetic import activation
from pycaffe_dist.engines.onednn.choice import Candidate
from pycaffe_dist.engines.onednn.library import INFERENCE, TRAINING
from pycaffe_dist.engines.onednn.primitives import (
    Call,
    Dims,
    Layout,
    Primitive,
    anyhow,
    dims_array,
    plain,
)
from pycaffe_dist.engines.onednn.products import (
    BLAS_HANDICAP,
    AsPrimitive,
    Product,
    roles,
    trial_of,
)
from pycaffe_dist.engines.onednn.settings import CHOICES, case
from pycaffe_dist.layers import convolution as generic
from pycaffe_dist.memory import Array, Value
from pycaffe_dist.proto.caffe_pb2 import TEST

if TYPE_CHECKING:
    from pycaffe_dist.engines.onednn.winograd import Filtering

DIRECT = 1  # the algorithm
PostOps = Sequence[tuple[Any, ...]]


class BaseConvolution(Accelerated, generic.BaseConvolution):
    """The products of the generic layer between an image (N, C, *image) and out (N, M, *out)."""

    post_ops: PostOps = ()  # of the forward pass, where another layer was fused into this one

    def prepare(self, bottom: Views, top: Views) -> None:
        w = self.windows
        self.image_dims: Dims = (self.images, self.image_channels, *w.image)
        self.out_dims: Dims = (self.images, self.out_channels, *w.out)
        channels: Dims = (self.out_channels, self.image_channels // self.group)
        if self.group > 1:
            channels = (self.group, channels[0] // self.group, channels[1])
        self.weight_dims: Dims = (*channels, *w.kernel)
        dilates = [d - 1 for d in w.dilation]
        self._spacing = [dims_array(x) for x in (w.stride, dilates, w.pad, w.pad)]
        self._forward_kind = INFERENCE if self.phase == TEST else TRAINING
        self._made: dict[str, Product | None] = {}
        self._activations: dict[tuple[Layout, tuple[Any, ...]], Call] = {}
        self._hint = self._primitive("gather", bias=False)

    # -- the three products ------------------------------------------------------------------

    def fast_gather(self, image: Value, out: Value, biased: bool) -> None:
        made = self._product("gather", biased)
        if made is None:
            bias = self.params[1].data if biased else None
            self._blas_gather(*self._hosts(image, out, replace=out), bias)
            return
        x, weights, y = made.layouts[0], made.layouts[1], made.layouts[-1]
        rooms = [image.read(x.home), self.params[0].data_value.read(weights.home)]
        if biased:
            rooms.append(self.params[1].data_value.read())
        made.call(*rooms, out.replace(y.home))

    def fast_spread(self, out: Value, image: Value) -> None:
        made = self._product("spread")
        if made is None:
            below, above = self._hosts(image, out, replace=image)
            self.spread(above, below)
            return
        x, weights, y = made.layouts
        read = self.params[0].data_value.read(weights.home)
        made.call(image.replace(x.home), read, out.read(y.home))

    def fast_weights(self, image: Value, out: Value, biased: bool) -> None:
        """Add to the gradient of the weights and, if it is ``out`` that has one, of the bias."""
        made = self._product("weights", biased)
        if made is None:
            below, above = self._hosts(image, out)
            self.add_weight_gradient(below, above)
            if biased:
                self.add_bias_gradient(above)
            return
        x, weights, *bias_layout, y = made.layouts
        blobs = self.params[0].blob, *([self.params[1].blob] if biased else [])
        targets = [
            (blob, layout, *gradient_room(blob, layout))
            for blob, layout in zip(blobs, (weights, *bias_layout), strict=True)
        ]
        rooms = [room for _, _, room, _ in targets]
        made.call(image.read(x.home), *rooms, out.read(y.home))
        for blob, layout, room, apart in targets:
            if apart:
                add_gradient(blob, layout, room)

    def _hosts(self, image: Value, out: Value, replace: Value | None = None) -> tuple[Array, Array]:
        """Image and out in plain memory; one of them may be there to be written."""
        dims = self.image_dims, self.out_dims
        below, above = (
            _host(value, d, value is replace) for value, d in zip((image, out), dims, strict=True)
        )
        return below, above

    # -- choosing ----------------------------------------------------------------------------

    def _product(self, which: str, bias: bool = False) -> Product | None:
        key = f"{which} {bias} {len(self.post_ops)}"
        if key not in self._made:
            self._made[key] = self._choose(which, bias)
        return self._made[key]

    def _choose(self, which: str, bias: bool) -> Product | None:
        w = self.windows
        what = (self.image_dims, self.out_dims, self.weight_dims, w.stride, w.pad, w.dilation)
        name = case(f"convolution {which}", *what, bias, len(self.post_ops), self._forward_kind)
        return CHOICES.pick(name, list(self._candidates(which, bias)))

    def _candidates(self, which: str, bias: bool) -> Iterator[Candidate[Product | None]]:
        primitive, position, seen = self._primitive(which, bias), 0, set[str]()
        converted = "store" if which == "weights" else "load" * (self.phase != TEST)
        trial = partial(trial_of, converted=converted)
        while True:
            name = primitive.implementation
            if "ref" not in name and "sse41" not in name and name not in seen:
                seen.add(name)
                yield Candidate(name, self._builder(which, bias, position), trial)
            position += 1
            if not primitive.advance():
                break
        for filtering in _filterings() if self._suits_winograd() else ():
            build = partial(self._winograd, filtering, which, bias)
            yield Candidate(filtering.name, build, trial, promising=True)
        yield Candidate("blas", lambda: None, lambda _: self._blas_trial(which), BLAS_HANDICAP)

    def _builder(self, which: str, bias: bool, position: int) -> Callable[[], Product]:
        def build() -> Product:
            primitive = self._primitive(which, bias)
            for _ in range(position):
                primitive.advance()
            return AsPrimitive(primitive, roles(which, bias))

        return build

    def _suits_winograd(self) -> bool:
        w = self.windows
        return (w.kernel, w.stride, w.dilation) == ((3, 3), (1, 1), (1, 1)) and max(w.pad) < 3

    def _winograd(self, filtering: Filtering, which: str, bias: bool) -> Product:
        from pycaffe_dist.engines.onednn import winograd

        image, out = self._hint.layout(library.SRC), self._hint.layout(library.DST)
        pad = self.windows.pad
        if which == "weights":
            return winograd.Weights(filtering, image, out, self.group, pad, bias)
        if which == "gather":
            return winograd.Gather(filtering, image, out, self.group, pad, bias, self.post_ops)
        turned = tuple(2 - p for p in pad)
        return winograd.Gather(filtering, out, image, self.group, turned, backward=True)

    def _blas_trial(self, which: str) -> Callable[[], object]:
        image = np.zeros(self.image_dims, np.float32)
        out = np.zeros(self.out_dims, np.float32)
        if which == "weights":
            return lambda: self._try_weight_gradient(image, out)
        if which == "gather":
            return lambda: self._blas_gather(image, out)
        return lambda: self.spread(out, image)

    def _try_weight_gradient(self, image: Array, out: Array) -> None:
        gradient = self.params[0].blob.diff_value
        clean = gradient.is_zero
        self.add_weight_gradient(image, out)  # zeros
        if clean:
            gradient.zero()

    def _blas_gather(self, image: Array, out: Array, bias: Array | None = None) -> None:
        self.gather(image, out, bias)
        for post_op in self.post_ops:
            key = plain(self.out_dims), post_op
            if key not in self._activations:
                self._activations[key] = activation(*key)
            self._activations[key](out, out)

    def _primitive(self, which: str, bias: bool = False) -> Primitive:
        image, weights = anyhow(self.image_dims), anyhow(self.weight_dims)
        # Few channels are read as they come: a data layer writes Caffe's own order.
        if self.image_channels < 8 and self.group == 1:
            image = plain(self.image_dims).md
        out, b = anyhow(self.out_dims), anyhow((self.out_channels,)) if bias else None
        if which == "gather":
            kind = self._forward_kind, DIRECT
            args = (*kind, image, weights, b, out, *self._spacing)
            return Primitive("convolution_forward", *args, post_ops=self.post_ops)
        if which == "spread":
            args = (DIRECT, image, weights, out, *self._spacing, self._hint.pd)
            return Primitive("convolution_backward_data", *args)
        args = (DIRECT, image, weights, b, out, *self._spacing, self._hint.pd)
        return Primitive("convolution_backward_weights", *args)

    def _learns(self, i: int) -> bool:
        return len(self.params) > i and self.param_propagate_down[i]


@cache
def _filterings() -> tuple[Filtering, ...]:
    """Winograd's; none where LLVM, which makes its kernels, is not there."""
    try:
        from pycaffe_dist.engines.onednn.winograd import FILTERINGS
    except ImportError:
        return ()
    return FILTERINGS


def _host(value: Value, dims: Dims, replace: bool = False) -> Array:
    """A value as it is in plain memory, where its room may be larger than it is now."""
    room: Array = value.replace() if replace else value.read()
    return room[: prod(dims)].reshape(dims)


class Convolution(BaseConvolution, generic.Convolution):
    __doc__ = generic.Convolution.__doc__

    def fast_forward(self, bottom: Views, top: Views) -> None:
        for x, y in zip(bottom, top, strict=True):
            self.fast_gather(x.blob.data_value, y.blob.data_value, len(self.params) > 1)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for x, y, down in zip(bottom, top, propagate_down, strict=True):
            if self._learns(0):
                self.fast_weights(x.blob.data_value, y.blob.diff_value, self._learns(1))
            elif self._learns(1):
                self.add_bias_gradient(y.diff)
            if down:
                self.fast_spread(y.blob.diff_value, x.blob.diff_value)


class Deconvolution(BaseConvolution, generic.Deconvolution):
    __doc__ = generic.Deconvolution.__doc__

    def fast_forward(self, bottom: Views, top: Views) -> None:
        for x, y in zip(bottom, top, strict=True):
            self.fast_spread(x.blob.data_value, y.blob.data_value)
            if len(self.params) > 1:
                self._add_bias(y)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for x, y, down in zip(bottom, top, propagate_down, strict=True):
            if self._learns(1):
                self.add_bias_gradient(y.diff)
            if self._learns(0):
                self.fast_weights(y.blob.diff_value, x.blob.data_value, False)
            if down:
                self.fast_gather(y.blob.diff_value, x.blob.diff_value, False)

    def _add_bias(self, y: View) -> None:
        pixels = y.data.reshape(self.images, self.outputs, prod(self.windows.image))
        pixels += self.params[1].data[:, None]
