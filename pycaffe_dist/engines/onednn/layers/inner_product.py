"""InnerProduct by oneDNN's inner products, or BLAS where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, Flags, Views
from pycaffe_dist.engines.choice import Candidate
from pycaffe_dist.engines.onednn.core.accelerated import Key, accelerates, add_gradient
from pycaffe_dist.engines.onednn.core.arithmetic import PostOps, activation
from pycaffe_dist.engines.onednn.core.library import BF16, F32, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import (
    Call,
    Layout,
    Primitive,
    anyhow,
    plain,
    strided,
)
from pycaffe_dist.engines.onednn.core.products import (
    Product,
    implementations,
    mark_of,
    ones,
    roles,
)
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.engines.onednn.core.weighted import Weighted
from pycaffe_dist.layers import inner_product as generic
from pycaffe_dist.memory import HOST, Home, Value
from pycaffe_dist.proto.caffe_pb2 import TEST


@accelerates("InnerProduct")
class InnerProduct(Weighted, generic.InnerProduct):
    __doc__ = generic.InnerProduct.__doc__
    replays = True

    def prepare(self, bottom: Views, top: Views) -> None:
        self._rows = bottom[0].count_from(0, self.axis)
        self._x, self._y = plain((self._rows, self.inputs)), plain((self._rows, self.outputs))
        dims = self.outputs, self.inputs
        self._stored = strided(dims, (1, self.outputs)) if self.transpose else plain(dims)
        self.prepare_products()
        self._hints = self.hints(self._hint)
        self._activate: Call | None = None

    def fast_forward(self, bottom: Views, top: Views) -> None:
        biased = len(self.params) > 1
        made = self.product("gather", biased, self.post_ops)
        weights = self.params[0].data_value.read(self._home(made.layouts[1]))
        bias = [self.params[1].data_value.read()] if biased else []
        x, y = made.layouts[0].home, made.layouts[-1].home
        do(made.call, bottom[0].data_value.read(x), weights, *bias, top[0].data_value.replace(y))

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff_value
        learns = [*self.param_propagate_down, False]
        if learns[0]:
            self._add_gradients(bottom[0].data_value, gy, learns[1])
        elif learns[1]:
            self.params[1].diff[...] += self._as_y(gy.read()).sum(axis=0)
        if propagate_down[0]:
            self._spread(gy, bottom[0].diff_value)

    def _spread(self, gy: Value, target: Value) -> None:
        made = self.product("spread")
        x, weights, y = made.layouts
        read = self.params[0].data_value.read(self._home(weights))
        made.call(target.replace(x.home), read, gy.read(y.home))

    def _add_gradients(self, x: Value, gy: Value, biased: bool) -> None:
        made = self.product("weights", biased)
        ends = made.layouts[0].home, made.layouts[-1].home
        targets = [
            Target(param.blob, layout, self._home(layout))
            for param, layout in zip(self.params, made.layouts[1:-1], strict=False)
        ]
        made.call(x.read(ends[0]), *[target.room for target in targets], gy.read(ends[1]))
        for target in targets:
            target.add()

    # -- by BLAS: called with rooms as primitives are ------------------------------------------

    def blas_gather(self, x: Array, weights: Array, *rest: Array, post_ops: PostOps = ()) -> None:
        *bias, y = rest
        out = np.matmul(self._as_x(x), self._in_out(weights), out=self._as_y(y))
        for b in bias:
            out += b
        if post_ops:
            self._activate = self._activate or activation(self._y, *post_ops)
            self._activate(y, y)

    def blas_spread(self, x: Array, weights: Array, y: Array) -> None:
        np.matmul(self._as_y(y), self._in_out(weights).T, out=self._as_x(x))

    def blas_weights(self, x: Array, weights: Array, *rest: Array) -> None:
        *bias, y = rest
        np.matmul(self._as_x(x).T, self._as_y(y), out=self._in_out(weights))
        for b in bias:
            np.sum(self._as_y(y), axis=0, out=b)

    def _in_out(self, weights: Array) -> Array:
        """The weights as they are stored, as a matrix (inputs, outputs)."""
        if self.transpose:
            return weights.reshape(self.inputs, self.outputs)
        return weights.reshape(self.outputs, self.inputs).T

    def _as_x(self, room: Array) -> Array:
        return room[: self._x.count].reshape(self._x.dims)

    def _as_y(self, room: Array) -> Array:
        return room[: self._y.count].reshape(self._y.dims)

    def _home(self, layout: Layout) -> Home:
        """Of parameters: as they are stored, or in an order that the primitive asks for."""
        return HOST if layout is self._stored else layout.home

    # -- choosing ----------------------------------------------------------------------------

    def facts(self) -> Key:
        return self._x.dims, self._y.dims, self.transpose

    def candidates(
        self, which: str, bias: bool, post_ops: PostOps = ()
    ) -> Iterator[Candidate[Product]]:
        """Primitives on the weights as they are stored come first, but those in bf16."""
        trial = partial(self._trial, which)
        in_bf16 = [(BF16, which == "weights")] * (BF16 in self._hints)
        orders = [*in_bf16, (F32, True), (F32, False)]
        for kind, as_stored in orders:
            if self.transpose and not as_stored:
                continue
            weights = self._stored.md if as_stored else anyhow(self._stored.dims, kind)
            make = partial(self._primitive, which, bias, weights, post_ops, kind)
            mark = "" if as_stored else " ordered"
            mark += mark_of(kind, self._hints)
            yield from implementations(make, roles(which, bias), trial, mark)
        layouts = [self._x, self._stored, plain((self.outputs,)), self._y]
        yield self.by_blas(which, bias, post_ops, layouts, trial)

    def _hint(self, kind: int) -> Primitive:
        if kind == BF16 and self.transpose:
            raise OneDnnError("transposed weights are brought into no other order")
        weights = self._stored.md if kind == F32 else anyhow(self._stored.dims, kind)
        return self._primitive("gather", False, weights, (), kind)

    def _primitive(
        self, which: str, bias: bool, weights: int, post_ops: PostOps = (), kind: int = F32
    ) -> Primitive:
        """What is read is of a kind; what is written, and a bias, are F32."""
        x = plain(self._x.dims, F32 if which == "spread" else kind).md
        y = plain(self._y.dims, F32 if which == "gather" else kind).md
        b = plain((self.outputs,)).md if bias else None
        if which == "gather":
            args = (self.forward_kind, x, weights, b, y)
            return Primitive("inner_product_forward", *args, post_ops=post_ops)
        if which == "spread":
            return Primitive("inner_product_backward_data", x, weights, y, self._hints[kind].pd)
        return Primitive("inner_product_backward_weights", x, weights, b, y, self._hints[kind].pd)

    def _trial(self, which: str, made: Product) -> Callable[[], object]:
        """Reordering weights for their own sake counts, except for those that stay as they are."""
        layout = made.layouts[1]
        rooms = [ones(x, i) for i, x in enumerate(made.layouts)]
        stored, ordered = ones(self._stored, "stored"), rooms[1]
        ends = [(made.layouts[i], rooms[i]) for i in (0, -1) if not made.layouts[i].is_plain]
        hosts = [ones(plain(end.dims), f"end {i}") for i, (end, _) in enumerate(ends)]
        reordered = layout is not self._stored

        def run() -> None:
            if reordered and which != "weights" and self.phase != TEST:
                layout.load(stored, ordered)
            for (end, room), host in zip(ends, hosts, strict=True):
                end.load(host, room)
            made.call(*rooms)
            if reordered and which == "weights":
                layout.store(ordered, stored)

        return run


class Target:
    """Where a parameter's gradient is written to: its own room if that is zero, else apart."""

    def __init__(self, blob: Blob, layout: Layout, home: Home) -> None:
        self._blob, self._layout, self._home = blob, layout, home
        self._apart = not blob.diff_value.is_zero
        count, dtype = layout.count, np.dtype(np.float32)
        self.room: Array = (
            layout.allocate(count, dtype) if self._apart else blob.diff_value.replace(home)
        )

    def add(self) -> None:
        if not self._apart:
            return
        if self._home is HOST:
            total: Array = self._blob.diff_value.write()
            total += self.room
        else:
            add_gradient(self._blob, self._layout, self.room)
