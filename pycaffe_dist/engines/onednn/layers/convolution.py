"""Convolution and Deconvolution: oneDNN's, Winograd's, or im2col and BLAS, whichever is fastest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.choice import Candidate
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.engines.onednn.core.accelerated import (
    Key,
    accelerates,
    add_gradient,
    gradient_room,
)
from pycaffe_dist.engines.onednn.core.arithmetic import SUM, PostOps, activation
from pycaffe_dist.engines.onednn.core.blocks import blocked
from pycaffe_dist.engines.onednn.core.library import BF16, F32
from pycaffe_dist.engines.onednn.core.primitives import (
    Call,
    Dims,
    Layout,
    Primitive,
    anyhow,
    dims_array,
    plain,
)
from pycaffe_dist.engines.onednn.core.products import (
    Product,
    implementations,
    mark_of,
    roles,
    trial_of,
)
from pycaffe_dist.engines.onednn.core.started import PostOp
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.engines.onednn.core.weighted import Weighted
from pycaffe_dist.layers import convolution as generic
from pycaffe_dist.memory import Value
from pycaffe_dist.proto.caffe_pb2 import TEST

if TYPE_CHECKING:
    from pycaffe_dist.engines.onednn.core.winograd import Filtering

DIRECT = 1  # the algorithm


@dataclass(frozen=True)
class Addend:
    """A value that a product is added to; ``last``: nobody reads it afterwards."""

    value: Value
    last: bool

    def brought_to(self, out: Value, layout: Layout) -> Array:
        """The room of ``out`` in a layout, with this value in it."""
        if self.last and self.value.pool is not None and self.value.pool is out.pool:
            return self.value.hand_over(layout.home, out)
        source, target = self.value.read(layout.home), out.replace(layout.home)
        do(_copy, source, target)
        return target


def _copy(source: Array, target: Array) -> None:
    size = min(len(source), len(target))
    np.copyto(target[:size], source[:size])


class BaseConvolution(Weighted, generic.BaseConvolution):
    """The products of the generic layer between an image (N, C, *image) and out (N, M, *out)."""

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
        self.prepare_products()
        self._activations: dict[tuple[Layout, PostOp], Call] = {}
        self._hints = self.hints(partial(self._primitive, "gather", False, ()))
        self._hint = self._hints[F32]

    # -- the three products ------------------------------------------------------------------

    def fast_gather(
        self,
        image: Value,
        out: Value,
        params: Views,
        post_ops: PostOps = (),
        addend: Addend | None = None,
    ) -> None:
        """The product with these weights and, if there is a second, this bias.

        With the post-operation SUM it is added to ``addend``.
        """
        kernel, *bias = params
        made = self.product("gather", bool(bias), post_ops)
        x, weights, y = made.layouts[0], made.layouts[1], made.layouts[-1]
        rooms = [image.read(x.home), kernel.data_value.read(weights.home)]
        rooms += [b.data_value.read() for b in bias]
        target = addend.brought_to(out, y) if addend else out.replace(y.home)
        do(made.call, *rooms, target)

    def fast_spread(self, out: Value, image: Value) -> None:
        made = self.product("spread")
        x, weights, y = made.layouts
        read = self.params[0].data_value.read(weights.home)
        made.call(image.replace(x.home), read, out.read(y.home))

    def fast_weights(self, image: Value, out: Value, biased: bool) -> None:
        """Add to the gradient of the weights and, if it is ``out`` that has one, of the bias."""
        made = self.product("weights", biased)
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

    # -- by BLAS: called with rooms as primitives are ------------------------------------------

    def blas_gather(
        self, image: Array, weights: Array, *rest: Array, post_ops: PostOps = ()
    ) -> None:
        *bias, out = rest
        kernel = _shaped(weights, self.params[0].shape)
        ends = _shaped(image, self.image_dims), _shaped(out, self.out_dims)
        self.gather(*ends, bias[0] if bias else None, kernel)
        for post_op in post_ops:
            key = plain(self.out_dims), post_op
            if key not in self._activations:
                self._activations[key] = activation(*key)
            self._activations[key](out, out)

    def blas_spread(self, image: Array, weights: Array, out: Array) -> None:
        self.spread(_shaped(out, self.out_dims), _shaped(image, self.image_dims))

    def blas_weights(self, image: Array, weights: Array, *rest: Array) -> None:
        *bias, out = rest
        below, above = _shaped(image, self.image_dims), _shaped(out, self.out_dims)
        weights[...] = 0
        self.sum_weight_gradient(below, above, _shaped(weights, self.params[0].shape))
        for b in bias:
            b[...] = above.reshape(self.images, self.out_channels, -1).sum(axis=2).sum(axis=0)

    # -- choosing ----------------------------------------------------------------------------

    def facts(self) -> Key:
        w = self.windows
        return self.image_dims, self.out_dims, self.weight_dims, w.stride, w.pad, w.dilation

    def candidates(
        self, which: str, bias: bool, post_ops: PostOps = ()
    ) -> Iterator[Candidate[Product]]:
        changed = "store" if which == "weights" else "load" * (self.phase != TEST)
        usual = next(iter(self._hints.values()))
        image = self._hint if self._few_channels else usual
        trial = partial(
            trial_of,
            weights=changed,
            ends=(image.layout(library.SRC), usual.layout(library.DST)),
        )
        for kind in self._hints:
            make = partial(self._primitive, which, bias, post_ops, kind)
            mark = mark_of(kind, self._hints)
            yield from implementations(make, roles(which, bias), trial, mark)
        for filtering in _filterings() if self._suits_winograd() else ():
            build = partial(self._winograd, filtering, which, bias, post_ops)
            yield Candidate(filtering.name, build, trial)
        if which == "gather" and self._is_depthwise and _filterings():
            yield Candidate("depthwise", partial(self._depthwise, bias, post_ops), trial)
        if SUM in post_ops:
            return
        dims = self.image_dims, self.weight_dims, (self.out_channels,), self.out_dims
        yield self.by_blas(which, bias, post_ops, [plain(d) for d in dims], trial)

    @property
    def _is_depthwise(self) -> bool:
        """Each channel has a kernel of its own, and windows lie on two axes without gaps."""
        alone = self.group > 1 and self.group == self.image_channels == self.out_channels
        return alone and self.windows.dilation == (1, 1) and not self.emulated

    def _depthwise(self, bias: bool, post_ops: PostOps) -> Product:
        from pycaffe_dist.engines.onednn.core.depthwise import Depthwise

        ends = self._hint.layout(library.SRC), self._hint.layout(library.DST)
        return Depthwise(*ends, self.windows, bias, post_ops)

    def _suits_winograd(self) -> bool:
        w = self.windows
        geometry = w.kernel, w.stride, w.dilation
        # What Winograd multiplies are not the weights, which is what emulation rounds.
        return geometry == ((3, 3), (1, 1), (1, 1)) and max(w.pad) < 3 and not self.emulated

    def _winograd(self, filtering: Filtering, which: str, bias: bool, post_ops: PostOps) -> Product:
        from pycaffe_dist.engines.onednn.core import winograd

        image, out = self._hint.layout(library.SRC), self._hint.layout(library.DST)
        pad = self.windows.pad
        if which == "weights":
            return winograd.Weights(filtering, image, out, self.group, pad, bias)
        if which == "gather":
            return winograd.Gather(filtering, image, out, self.group, pad, bias, post_ops)
        turned = tuple(2 - p for p in pad)
        return winograd.Gather(filtering, out, image, self.group, turned, backward=True)

    @property
    def _few_channels(self) -> bool:
        """They are read as they come: a data layer writes Caffe's own order."""
        return bool(self.image_channels < 8 and self.group == 1)

    def _primitive(
        self, which: str, bias: bool = False, post_ops: PostOps = (), kind: int = F32
    ) -> Primitive:
        """Image, out and weights are of a kind; the gradient of weights and bias are always F32."""
        image, out = _end(self.image_dims, kind), _end(self.out_dims, kind)
        if self._few_channels:
            image = plain(self.image_dims, kind).md
        weights = anyhow(self.weight_dims, F32 if which == "weights" else kind)
        b = anyhow((self.out_channels,)) if bias else None
        if which == "gather":
            args = (self.forward_kind, DIRECT, image, weights, b, out, *self._spacing)
            return Primitive("convolution_forward", *args, post_ops=post_ops)
        if which == "spread":
            args = (DIRECT, image, weights, out, *self._spacing, self._hints[kind].pd)
            return Primitive("convolution_backward_data", *args)
        args = (DIRECT, image, weights, b, out, *self._spacing, self._hints[kind].pd)
        return Primitive("convolution_backward_weights", *args)

    def _learns(self, i: int) -> bool:
        return len(self.params) > i and self.param_propagate_down[i]


def _end(dims: Dims, kind: int) -> int:
    """What a convolution reads or writes.

    In fp32 it may choose.  In bf16 all kinds of it are fast in blocks of 16 channels: if all have
    the same layout, nothing is reordered between them.
    """
    layout = blocked(dims, 16, kind) if kind == BF16 and dims[1] % 16 == 0 else None
    return layout.md if layout else anyhow(dims, kind)


@cache
def _filterings() -> tuple[Filtering, ...]:
    """Winograd's; none where LLVM, which makes its kernels, is not there."""
    try:
        from pycaffe_dist.engines.onednn.core.winograd import FILTERINGS
    except ImportError:
        return ()
    return FILTERINGS


def _shaped(room: Array, dims: Dims) -> Array:
    """What is in a room of plain memory, which may be larger than it is now."""
    return room[: prod(dims)].reshape(dims)


@accelerates("Convolution")
class Convolution(BaseConvolution, generic.Convolution):
    __doc__ = generic.Convolution.__doc__
    replays = True

    def fast_forward(self, bottom: Views, top: Views) -> None:
        for x, y in zip(bottom, top, strict=True):
            self.fast_gather(x.blob.data_value, y.blob.data_value, self.params, self.post_ops)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        for x, y, down in zip(bottom, top, propagate_down, strict=True):
            if self._learns(0):
                self.fast_weights(x.blob.data_value, y.blob.diff_value, self._learns(1))
            elif self._learns(1):
                self.add_bias_gradient(y.diff)
            if down:
                self.fast_spread(y.blob.diff_value, x.blob.diff_value)


@accelerates("Deconvolution")
class Deconvolution(BaseConvolution, generic.Deconvolution):
    __doc__ = generic.Deconvolution.__doc__
    forward_product = "spread"

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
                self.fast_gather(y.blob.diff_value, x.blob.diff_value, self.params[:1])

    def _add_bias(self, y: View) -> None:
        pixels = y.data.reshape(self.images, self.outputs, prod(self.windows.image))
        pixels += self.params[1].data[:, None]
