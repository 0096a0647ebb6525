"""Guards: training that has gone wrong is stopped where it went wrong, and explained."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import PcdError
from pycaffe_dist.events import Event, Snapshotting
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.job.failure import rank_name
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers.stepper import BadLoss

LOG_FLT_MIN = -math.log(np.finfo(np.float32).tiny)  # 87.3365: what SoftmaxWithLoss is at most

REMEDY = "Try a lower base_lr, or clip_gradients."
LARGE = (
    "loss = 87.3365 is -log(FLT_MIN): the net gives the right class a probability of 0. Most often "
    "the learning rate is too high, the input is not scaled, or labels do not start from 0."
)
GONE = "a batch that is gone: losses on devices are looked at when the log is due"
UNKNOWN = "a pass that cannot be repeated, because all ranks have a part in it (--sync-bn)"


class TrainingError(PcdError):
    """Training that cannot usefully continue."""


class LossGuard:
    """Looks at losses before the update that they would lead to, and at weights before a snapshot.

    At every loss, but for those on a device: they are looked at where the log is due and before a
    snapshot, so that training need not wait for each.  All ranks see the losses of all, so they
    stop together; the place is told by the rank whose loss it is.

    Where staleness is allowed they see them later, or when they settle.  The rank whose loss is no
    number knows at once: it holds its update back, so that nobody's weights get it.

    Args:
        solver: whose losses.
        on_nan: "stop", "snapshot" (write one, then stop) or "continue".
        say: where a remark goes.
    """

    def __init__(self, solver: Solver, on_nan: str, say: Callable[[str], object]) -> None:
        self.solver, self.on_nan, self.say = solver, on_nan, say
        self._stops = False
        self._said: set[str] = set()
        self._place = (
            ""  # where this rank's first bad loss came from, if the others know of it later
        )
        self._kept: list[tuple[Blob, Array]] = []  # running statistics before this iteration
        solver.stepper.guarded = on_nan != "continue"
        if on_nan == "snapshot":
            solver.on_start.append(self._keep_statistics)
        solver.on_gradients_ready += [self.look, self._hold_back]
        solver.on_settled.append(self.look)
        solver.subscribers.append(self._before_snapshot)

    def look(self) -> None:
        """At what all ranks know now."""
        solver = self.solver
        if self._stops or not solver.may_look(solver.last_loss):
            return
        loss = float(solver.last_loss)
        bad = solver.stepper.take_bad_loss()
        if bad is not None and self.on_nan != "continue":
            self._stop(bad)
        elif bad is not None:
            self._say_once("bad", lambda: self._what_is_wrong(bad))
        elif abs(loss - LOG_FLT_MIN) < 1e-3:
            self._say_once("large", lambda: LARGE)

    def _say_once(self, key: str, text: Callable[[], str]) -> None:
        if key not in self._said:
            self._said.add(key)
            self.say(text())

    def _hold_back(self) -> None:
        """An update that only this rank knows to be bad goes nowhere."""
        stepper, net = self.solver.stepper, self.solver.net
        if not stepper.bad_alone():
            return
        if self.on_nan != "continue":
            stepper.discard_update()
        if not self._place:  # the batch will be gone when all know of it
            self._place = UNKNOWN if self.solver.ranks.share_batches else first_non_finite(net)
        self._put_statistics_back()

    def _keep_statistics(self) -> None:
        """A forward pass changes them before its loss is known."""
        layers = [layer for layer in self.solver.net.layers if layer.follows_batches]
        self._kept = [(b, b.data.copy()) for layer in layers for b in layer.statistics()]

    def _put_statistics_back(self) -> None:
        for blob, values in self._kept:
            blob.data[...] = values

    def _stop(self, bad: BadLoss) -> NoReturn:
        self._stops = True
        self.solver.stepper.discard_update()
        text = self._what_is_wrong(bad)
        if self.on_nan == "snapshot":
            if bad.iteration == self.solver.iter:
                self._put_statistics_back()
            self.solver.subscribers.remove(self._before_snapshot)  # it is asked for as it is
            self.solver.snapshot()
            text += f"; the weights are in {self.solver.snapshot_stem()}"
        self.solver.ranks.mean([0.0])  # all are here: who leaves first ends the others
        raise TrainingError(f"{text}. {REMEDY}")

    def _what_is_wrong(self, bad: BadLoss) -> str:
        ranks = self.solver.ranks
        now = bad.iteration == self.solver.iter  # all ranks have the batch still
        place = first_non_finite(self.solver.net) if now else self._place or GONE
        told = ranks.gather((rank_name(ranks.rank), place))
        text = f"iteration {bad.iteration}: the loss "
        if not told:  # rank 0 says it
            return f"{text}of rank {bad.rank} is {bad.loss:g}"
        name, place = told[bad.rank]
        text += f"of {name} is" if ranks.size > 1 else "is"
        return f"{text} {bad.loss:g}; first seen in {place}"

    def _before_snapshot(self, event: Event) -> None:
        """What cannot be gone on from is not written: the snapshot before it stays the newest."""
        if not isinstance(event, Snapshotting) or self.on_nan == "continue":
            return
        net = self.solver.net
        for param in net.params.learnable if event.what != "state" else []:
            if not finite(param.blob.data):
                layer, blob = param.owner
                raise TrainingError(
                    f"iteration {event.iteration}: parameter {blob} of layer "
                    f'"{net.layer_names[layer]}" is NaN or infinite after the last update; no '
                    f"snapshot was written. {REMEDY}"
                )


def finite(values: Array) -> bool:
    """Whether all are numbers: their sum is one then, unless it overflows."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def first_non_finite(net: Net) -> str:
    """The first layer, in forward order, with a parameter or an output that is NaN or infinite.

    The batch is run once more, layer by layer: inner blobs are not kept while a net trains.  To the
    end, because all ranks do so, and layers may be exchanging something.
    """
    net.recycling = None
    found = []
    for i, layer in enumerate(net.layers):
        for j, blob in enumerate(layer.blobs):
            if not finite(blob.data):
                found.append(f'layer "{layer.name}" ({layer.type}), parameter {j}')
        if net.bottom_ids[i]:
            net.forward(i, i)
        for t in net.top_ids[i]:
            if not finite(net.blobs[t].data):
                found.append(f'layer "{layer.name}" ({layer.type}), top "{net.blob_names[t]}"')
    return found[0] if found else "the loss itself: all blobs are finite"
