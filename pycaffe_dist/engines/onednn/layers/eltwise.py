"""Eltwise, each direction in one pass over memory."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, Views
from pycaffe_dist.engines.onednn.core.accelerated import (
    Accelerated,
    accelerates,
    in_place,
    layout_of,
)
from pycaffe_dist.engines.onednn.core.arithmetic import (
    ADD,
    DIVIDE,
    GREATER_EQUAL,
    LESS,
    MAXIMUM,
    MULTIPLY,
    PostOps,
    copy,
    element_dims,
    fold,
    weighted_sum,
)
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Call, Dims, Layout, plain
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.layers import eltwise as generic
from pycaffe_dist.proto.caffe_pb2 import EltwiseParameter

FOLDED = {
    EltwiseParameter.PROD: MULTIPLY,
    EltwiseParameter.SUM: ADD,
    EltwiseParameter.MAX: MAXIMUM,
}


@accelerates("Eltwise")
class Eltwise(Accelerated, generic.Eltwise):
    __doc__ = generic.Eltwise.__doc__
    replays = True

    post_ops: PostOps = ()  # of the forward pass, where another layer was fused into this one

    def prepare(self, bottom: Views, top: Views) -> None:
        if any(in_place(view, top[0]) for view in bottom):
            raise OneDnnError("in place")
        if self.operation == EltwiseParameter.MAX and len(bottom) > 2:
            raise OneDnnError("the largest of more than two")
        self._dims = element_dims(bottom[0].shape)
        self._calls: dict[Hashable, Call] = {}
        self._layout = common_layout(bottom, self._dims)

    @property
    def takes_post_ops(self) -> bool:
        return self.operation != EltwiseParameter.SUM or self._plain_sum

    def fast_forward(self, bottom: Views, top: Views) -> None:
        self._layout = common_layout(bottom, self._dims)
        home = self._layout.home
        rooms = [x.data_value.read(home) for x in bottom]
        if self.operation == EltwiseParameter.SUM and not self._plain_sum:
            call = self._sum(self.coeffs)
        else:
            call = self._fold([FOLDED[self.operation]] * (len(bottom) - 1), self.post_ops)
        do(call, *rooms, top[0].data_value.replace(home))

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        home = self._layout.home
        gy: Array = top[0].diff_value.read(home)
        for i, (view, down) in enumerate(zip(bottom, propagate_down, strict=True)):
            if down:
                call, *rooms = self._gradient(i, gy, top, bottom)
                call(*rooms, view.diff_value.replace(home))

    def _gradient(self, i: int, gy: Array, top: Views, bottom: Views) -> tuple[Any, ...]:
        """The call for ∂xᵢ and what it takes."""
        home = self._layout.home
        if self.operation == EltwiseParameter.SUM:
            return self._sum(self.coeffs[i : i + 1]), gy
        xs = [x.data_value.read(home) for x in bottom]
        if self.operation == EltwiseParameter.MAX:
            # The first wins where the second is less, the second elsewhere: so for NaN, too.
            return self._fold([GREATER_EQUAL if i else LESS, MULTIPLY]), *xs[::-1], gy
        if not self.stable:
            return self._fold([DIVIDE, MULTIPLY]), top[0].data_value.read(home), xs[i], gy
        others = xs[:i] + xs[i + 1 :]
        return self._fold([MULTIPLY] * len(others)), gy, *others

    @property
    def _plain_sum(self) -> bool:
        return all(c == 1 for c in self.coeffs)

    # -- calls, made once for each layout ----------------------------------------------------

    def _fold(self, algorithms: list[int], post_ops: PostOps = ()) -> Call:
        key = self._layout, *algorithms, bool(post_ops)
        if key not in self._calls:
            self._calls[key] = fold(self._layout, algorithms, post_ops)
        return self._calls[key]

    def _sum(self, weights: Sequence[float]) -> Call:
        key = self._layout, "sum", *weights
        if key not in self._calls:
            alone = len(weights) == 1 and weights[0] == 1
            layout = self._layout
            self._calls[key] = copy(layout, layout) if alone else weighted_sum(layout, weights)
        return self._calls[key]


def common_layout(views: Views, dims: Dims) -> Layout:
    """The layout that the first of some bottoms has, of those that are not in Caffe's own order."""
    for view in views:
        layout = layout_of(view.data_value, dims)
        if not layout.is_plain:
            return layout
    return plain(dims)
