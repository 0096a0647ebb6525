"""``ema_decay`` of a solver: an exponential moving average of the weights, beside the weights."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist import caffe_log as log
from pycaffe_dist import loading
from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError
from pycaffe_dist.events import Event, Restored, Updated
from pycaffe_dist.loading import NetWeights
from pycaffe_dist.memory import place

if TYPE_CHECKING:
    from pycaffe_dist.solver import Solver

MARK = ".ema"  # in the names of files of averages


class WeightAverage:
    """a ← d·a + (1 − d)·w after each update, d = ``ema_decay``;  at first a = w.

    A snapshot's averages are in ``<prefix>_iter_N.ema.caffemodel``, from which a resumed run
    takes them.  What is not learned (``lr_mult`` 0, as BatchNorm's statistics) is there as it is.
    Of several ranks the first one averages, when all updates of an iteration are in the weights.
    """

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.decay = solver.param.ema_decay
        if not 0 < self.decay < 1:
            raise NetError(f"ema_decay must lie between 0 and 1, not {self.decay:g}")
        self.averages: list[Array] | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, Updated):
            self.solver.stepper.settle()
            if self.solver.ranks.rank == 0:
                self.take()
        elif isinstance(event, Restored) and self.solver.ranks.rank == 0:
            self.read(averaged(event.path.replace(".solverstate", ".caffemodel")))

    def weights(self) -> list[Array]:
        learned = [p.blob for p in self.solver.net.params.learnable if p.lr_mult]
        return [blob.data for blob in learned]

    def take(self) -> None:
        if self.averages is None:
            self.averages = [w.copy() for w in self.weights()]
            return
        for a, w in zip(self.averages, self.weights(), strict=True):
            a += (w - a) * a.dtype.type(1 - self.decay)

    @contextmanager
    def in_the_net(self) -> Iterator[None]:
        """The net has the averages for a while."""
        assert self.averages is not None
        kept = [w.copy() for w in self.weights()]
        for w, a in zip(self.weights(), self.averages, strict=True):
            w[...] = a
        try:
            yield
        finally:
            for w, own in zip(self.weights(), kept, strict=True):
                w[...] = own

    def net_weights(self) -> NetWeights | None:
        """The net's weights with the averages in the places of what is learned."""
        if self.averages is None:
            return None
        weights = NetWeights.of(self.solver.net)
        taken = {place(w): a for w, a in zip(self.weights(), self.averages, strict=True)}
        data = [[taken.get(place(w), w) for w in blobs] for blobs in weights.data]
        return replace(weights, data=data)

    def read(self, path: str) -> None:
        self.averages = [w.copy() for w in self.weights()]
        if not Path(path).exists():
            log.warning("solver.cpp", "%s is not there: averages begin with the weights", path)
            return
        with self.in_the_net():
            loading.copy_file(self.solver.net, path)
            self.averages = [w.copy() for w in self.weights()]


def averaged(weights: str) -> str:
    """The file of averages beside one of weights."""
    folder, name = os.path.split(weights)
    return os.path.join(folder, name.replace(".caffemodel", f"{MARK}.caffemodel"))
