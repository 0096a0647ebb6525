"""What layers of this engine have in common: prepared when shapes are new, generic otherwise."""

from __future__ import annotations

import logging

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob, Flags, View, Views
from pycaffe_dist.engines.base import Forms
from pycaffe_dist.engines.chains import Chainable
from pycaffe_dist.engines.onednn.core.library import OneDnnError
from pycaffe_dist.engines.onednn.core.primitives import Dims, Layout, plain
from pycaffe_dist.memory import HOST, Value

accelerates = Forms("pycaffe_dist.engines.onednn.layers")
Key = tuple[object, ...]  # what decides what is prepared
log = logging.getLogger("pycaffe_dist.engines.onednn")


class Accelerated(Chainable):
    """A mixin that goes before the generic layer.

    When the shapes of bottoms or tops are new, ``prepare`` makes the primitives, or raises
    OneDnnError; the layer is then computed by its generic implementation.
    """

    fast = False
    replays = False  # all that its TEST forward does to memory is done by tape.do
    shares_memory = False  # of its bottoms with its tops, which a data layer changes every time
    _shapes: tuple[Dims, ...] | None = None
    _prepared: Key | None = None  # the key of what was prepared

    def prepare(self, bottom: Views, top: Views) -> None:
        """Make the primitives for these shapes."""
        raise NotImplementedError

    def fast_forward(self, bottom: Views, top: Views) -> None:
        raise NotImplementedError

    def fast_backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        raise NotImplementedError

    def reshape(self, bottom: Views, top: Views) -> None:
        before = self._shapes
        if before is None or self.shares_memory or before != _shapes(bottom, top):
            super().reshape(bottom, top)
            self._shapes = _shapes(bottom, top)

    def key(self) -> Key:
        """Everything that decides what is prepared; a layer adds to the shapes what it looks at."""
        return (self._shapes,)

    def forward(self, bottom: Views, top: Views) -> None:
        if self._prepared != self.key():
            self._prepare(bottom, top)
        super().forward(bottom, top)

    def backward(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self._prepared != self.key():
            self._prepare(bottom, top)
        super().backward(top, propagate_down, bottom)

    def computed_by(self) -> tuple[str, str]:
        """What computes its forward and backward passes, for people."""
        return "onednn", "onednn"

    def forward_alone(self, bottom: Views, top: Views) -> None:
        if self.fast:
            self.fast_forward(bottom, top)
        else:
            super().forward_alone(bottom, top)

    def backward_alone(self, top: Views, propagate_down: Flags, bottom: Views) -> None:
        if self.fast:
            self.fast_backward(top, propagate_down, bottom)
        else:
            super().backward_alone(top, propagate_down, bottom)

    def _prepare(self, bottom: Views, top: Views) -> None:
        self._prepared = self.key()
        self.fast = False
        if self.dtype != np.float32 or not all(v.count for v in (*bottom, *top)):
            return
        try:
            self.prepare(bottom, top)
            self.fast = True
        except OneDnnError as e:
            log.info('layer "%s" (%s): computed by NumPy (%s)', self.name, self.type, e)


def _shapes(bottom: Views, top: Views) -> tuple[Dims, ...]:
    return (*[v.blob.shape for v in bottom], *[v.blob.shape for v in top])


def layout_of(value: Value, dims: Dims) -> Layout:
    """The layout in which a value of these dimensions is now; Caffe's own if it is in many."""
    for home in value.current:
        if isinstance(home, Layout) and home.dims == dims:
            return home
    return plain(dims)


def in_place(one: View, other: View) -> bool:
    return one.blob.data_value is other.blob.data_value


def gradient_room(blob: Blob, layout: Layout) -> tuple[Array, bool]:
    """Where to write a parameter's gradient, and whether it is still to be added to what is there.

    A gradient that is zero is overwritten; else it goes into a room apart, and ``add_gradient``
    follows.
    """
    value = blob.diff_value
    if value.is_zero:
        return value.replace(layout.home), False
    return layout.allocate(layout.count, value.dtype), True


def add_gradient(blob: Blob, layout: Layout, room: Array) -> None:
    target = blob.diff_value.write(HOST)
    if layout.is_plain:
        target += room[: target.size]
        return
    host = np.empty_like(target)
    layout.store(room, host)
    target += host
