"""Concat and Slice: pieces copied from and to blobs that may be blocked by channels."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Flags, View, Views
from pycaffe_dist.engines.onednn.core.accelerated import Accelerated, accelerates, layout_of
from pycaffe_dist.engines.onednn.core.arithmetic import copy
from pycaffe_dist.engines.onednn.core.blocks import resized
from pycaffe_dist.engines.onednn.core.library import MOST_AXES, Arg, OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import (
    Call,
    Dims,
    Layout,
    Primitive,
    dims_array,
    plain,
)
from pycaffe_dist.engines.onednn.core.started import runtime
from pycaffe_dist.engines.onednn.core.tape import do
from pycaffe_dist.layers import concat as generic
from pycaffe_dist.memory import Value


class Arrangement:
    """A whole in one layout and its pieces, each in the same one, along an axis."""

    def __init__(self, whole: Layout, pieces: Sequence[Layout], axis: int) -> None:
        self.whole, self.pieces = whole, pieces
        mds = (ctypes.c_void_p * len(pieces))(*[piece.md for piece in pieces])
        made = Primitive("concat", whole.md, len(pieces), axis, mds)
        inputs = [(Arg.MULTIPLE_SRC + i, piece) for i, piece in enumerate(pieces)]
        self._join = made.call(*inputs, (Arg.DST, whole))
        self._cuts = list(self._each_cut(axis))

    def join(self, whole: Array, *pieces: Array) -> None:
        self._join(*pieces, whole)

    def cut(self, whole: Array, i: int, piece: Array) -> None:
        """The i-th piece out of the whole."""
        begin, call = self._cuts[i]
        call(whole[begin:], piece)

    def _each_cut(self, axis: int) -> Iterator[tuple[int, Call]]:
        """For each piece, where in the whole's room it begins, and the copy from there."""
        begin = 0
        step = self.whole.strides[axis]
        for piece in self.pieces:
            yield begin // self.whole.block(axis) * step, copy(part(self.whole, piece.dims), piece)
            begin += piece.dims[axis]


class Pieces(Accelerated, generic.Pieces):
    """One whole and its pieces; values flow in either direction."""

    replays = True

    def prepare(self, bottom: Views, top: Views) -> None:
        if len(bottom) == len(top) == 1:
            raise OneDnnError("nothing to do")
        whole, pieces = (top[0], bottom) if len(bottom) > 1 else (bottom[0], top)
        if len(whole.shape) > MOST_AXES:
            raise OneDnnError(f"{len(whole.shape)} axes")
        self._whole: Dims = whole.shape
        self._pieces: list[Dims] = [view.shape for view in pieces]
        self._made: dict[Layout, Arrangement] = {}
        self._used = self._arrangement(plain(self._whole))

    def join(self, pieces: Sequence[Value], whole: Value) -> None:
        used = self._used
        rooms = [v.read(p.home) for v, p in zip(pieces, used.pieces, strict=True)]
        do(used.join, whole.replace(used.whole.home), *rooms)

    def cut(self, whole: Value, pieces: Sequence[Value | None]) -> None:
        room = whole.read(self._used.whole.home)
        for i, value in enumerate(pieces):
            if value is not None:
                do(self._used.cut, room, i, value.replace(self._used.pieces[i].home))

    def _arrangement(self, whole: Layout | None) -> Arrangement:
        """In the layout of the whole, or Caffe's own if its blocks would have to be cut."""
        whole = whole or plain(self._whole)
        if whole not in self._made:
            pieces = [resized(whole, dims, self.axis) for dims in self._pieces]
            found = [piece for piece in pieces if piece is not None]
            if len(found) == len(pieces):
                self._made[whole] = Arrangement(whole, found, self.axis)
            else:
                self._made[whole] = self._arrangement(None)
        return self._made[whole]


@accelerates("Concat")
class Concat(Pieces, generic.Concat):
    __doc__ = generic.Concat.__doc__
    shares_memory = True

    def fast_forward(self, bottom: Views, top: Views) -> None:
        self._used = self._arrangement(self._wanted(bottom))
        self.join([x.data_value for x in bottom], top[0].data_value)

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        wanted = zip(bottom, propagate_down, strict=True)
        self.cut(top[0].diff_value, [x.diff_value if down else None for x, down in wanted])

    def _wanted(self, bottom: Views) -> Layout | None:
        """What the largest bottom has."""
        largest: View = max(bottom, key=lambda view: view.blob.count)
        shape = largest.blob.shape
        return resized(layout_of(largest.blob.data_value, shape), self._whole, self.axis)


@accelerates("Slice")
class Slice(Pieces, generic.Slice):
    __doc__ = generic.Slice.__doc__
    shares_memory = True

    def fast_forward(self, bottom: Views, top: Views) -> None:
        self._used = self._arrangement(layout_of(bottom[0].data_value, self._whole))
        self.cut(bottom[0].data_value, [y.data_value for y in top])

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if propagate_down[0]:
            self.join([y.diff_value for y in top], bottom[0].diff_value)


def part(whole: Layout, dims: Dims) -> Layout:
    """The layout of a piece that lies within a whole; its room begins at the piece."""
    lib = runtime().lib
    offsets = dims_array([0] * len(dims))
    md = lib.create("memory_desc_create_submemory", whole.md, dims_array(dims), offsets)
    try:
        return Layout.of(md)
    finally:
        lib.memory_desc_destroy(md)
