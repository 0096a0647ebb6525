"""InnerProduct by oneDNN's inner products, or BLAS where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pycaffe_dist.blob import Blob, Flags, Views
from pycaffe_dist.engines.onednn.accelerated import Accelerated, add_gradient
from pycaffe_dist.engines.onednn.arithmetic import PostOps, activation
from pycaffe_dist.engines.onednn.choice import Candidate
from pycaffe_dist.engines.onednn.library import INFERENCE, TRAINING
from pycaffe_dist.engines.onednn.primitives import Call, Layout, Primitive, anyhow, plain, strided
from pycaffe_dist.engines.onednn.products import BLAS_HANDICAP, AsPrimitive, Product, ones, roles
from pycaffe_dist.engines.onednn.settings import CHOICES, case
from pycaffe_dist.layers import inner_product as generic
from pycaffe_dist.memory import HOST, Array, Home, Value
from pycaffe_dist.proto.caffe_pb2 import TEST


class InnerProduct(Accelerated, generic.InnerProduct):
    __doc__ = generic.InnerProduct.__doc__

    post_ops: PostOps = ()  # of the forward pass, where another layer was fused into this one

    def prepare(self, bottom: Views, top: Views) -> None:
        self._rows = top[0].count // self.outputs
        self._x, self._y = plain((self._rows, self.inputs)), plain((self._rows, self.outputs))
        dims = self.outputs, self.inputs
        self._stored = strided(dims, (1, self.outputs)) if self.transpose else plain(dims)
        self._forward_kind = INFERENCE if self.phase == TEST else TRAINING
        self._made: dict[tuple[str, bool, bool], Product | None] = {}
        self._hint = self._primitive("gather", False, self._stored.md)
        self._activate: Call | None = None

    def fast_forward(self, bottom: Views, top: Views) -> None:
        biased = len(self.params) > 1
        made = self._product("gather", biased)
        x, y = bottom[0].data_value.read(), top[0].data_value.replace()
        if made is None:
            self._blas_gather(x, y)
            return
        weights = self.params[0].data_value.read(self._home(made.layouts[1]))
        bias = [self.params[1].data_value.read()] if biased else []
        made.call(x, weights, *bias, y)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        gy = top[0].diff_value.read()
        learns = [*self.param_propagate_down, False]
        if learns[0]:
            self._add_gradients(bottom[0].data_value.read(), gy, learns[1])
        elif learns[1]:
            self.params[1].diff[...] += self._as_y(gy).sum(axis=0)
        if propagate_down[0]:
            self._spread(gy, bottom[0].diff_value)

    def _spread(self, gy: Array, target: Value) -> None:
        made, gx = self._product("spread"), target.replace()
        if made is None:
            np.matmul(self._as_y(gy), self._weights_in_out().T, out=self._as_x(gx))
            return
        made.call(gx, self.params[0].data_value.read(self._home(made.layouts[1])), gy)

    def _add_gradients(self, x: Array, gy: Array, biased: bool) -> None:
        made = self._product("weights", biased)
        layouts = made.layouts[1:-1] if made else [self._stored, plain((self.outputs,))]
        targets = [
            Target(param.blob, layout, self._home(layout))
            for param, layout in zip(self.params[: 1 + biased], layouts, strict=False)
        ]
        rooms = [target.room for target in targets]
        if made is None:
            self._blas_weights(x, gy, *rooms)
        else:
            made.call(x, *rooms, gy)
        for target in targets:
            target.add()

    # -- by BLAS -----------------------------------------------------------------------------

    def _blas_gather(self, x: Array, y: Array) -> None:
        out = np.matmul(self._as_x(x), self._weights_in_out(), out=self._as_y(y))
        if len(self.params) > 1:
            out += self.params[1].data
        if self.post_ops:
            self._activate = self._activate or activation(self._y, *self.post_ops)
            self._activate(y, y)

    def _blas_weights(self, x: Array, gy: Array, weights: Array, bias: Array | None = None) -> None:
        factors = self._as_y(gy), self._as_x(x)
        a, b = factors[::-1] if self.transpose else factors
        np.matmul(a.T, b, out=weights.reshape(a.shape[1], b.shape[1]))
        if bias is not None:
            np.sum(self._as_y(gy), axis=0, out=bias)

    def _as_x(self, room: Array) -> Array:
        return room[: self._x.count].reshape(self._x.dims)

    def _as_y(self, room: Array) -> Array:
        return room[: self._y.count].reshape(self._y.dims)

    def _home(self, layout: Layout) -> Home:
        """Of parameters: as they are stored, or in an order that the primitive asks for."""
        return HOST if layout is self._stored else layout.home

    # -- choosing ----------------------------------------------------------------------------

    def _product(self, which: str, bias: bool = False) -> Product | None:
        key = which, bias, bool(self.post_ops)
        if key not in self._made:
            kind = self._forward_kind if which == "gather" else 0
            facts = self._x.dims, self._y.dims, self.transpose, bias, len(self.post_ops), kind
            name = case(f"inner product {which}", *facts)
            self._made[key] = CHOICES.pick(name, list(self._candidates(which, bias)))
        return self._made[key]

    def _candidates(self, which: str, bias: bool) -> Iterator[Candidate[Product | None]]:
        def product(weights: int) -> Callable[[], Product]:
            return lambda: AsPrimitive(self._primitive(which, bias, weights), roles(which, bias))

        def trial(made: Product | None) -> Callable[[], object]:
            return self._trial(which, bias, made)

        yield Candidate("stored", product(self._stored.md), trial)
        if not self.transpose:
            yield Candidate("ordered", product(anyhow(self._stored.dims)), trial)
        yield Candidate("blas", lambda: None, trial, BLAS_HANDICAP)

    def _primitive(self, which: str, bias: bool, weights: int) -> Primitive:
        x, y = self._x.md, self._y.md
        b = plain((self.outputs,)).md if bias else None
        if which == "gather":
            args = (self._forward_kind, x, weights, b, y)
            return Primitive("inner_product_forward", *args, post_ops=self.post_ops)
        if which == "spread":
            return Primitive("inner_product_backward_data", x, weights, y, self._hint.pd)
        return Primitive("inner_product_backward_weights", x, weights, b, y, self._hint.pd)

    def _trial(self, which: str, bias: bool, made: Product | None) -> Callable[[], object]:
        """Reordering weights for their own sake counts, except for those that stay as they are."""
        x, y, stored = (ones(layout) for layout in (self._x, self._y, self._stored))
        if made is None:
            return {
                "gather": lambda: self._blas_gather(x, y),
                "spread": lambda: np.matmul(
                    self._as_y(y), self._weights_in_out().T, out=self._as_x(x)
                ),
                "weights": lambda: self._blas_weights(x, y, stored),
            }[which]
        layout = made.layouts[1]
        ordered = stored if layout is self._stored else ones(layout)
        rooms = [ordered, *[ones(b) for b in made.layouts[2:-1]]]

        def run() -> None:
            if ordered is not stored and which != "weights" and self.phase != TEST:
                layout.load(stored, ordered)
            made.call(x, *rooms, y)
            if ordered is not stored and which == "weights":
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
