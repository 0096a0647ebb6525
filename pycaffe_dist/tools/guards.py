"""Guards: training that has gone wrong is stopped where it went wrong, and explained."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.events import Event, Snapshotting
from pycaffe_dist.memory import Array
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.failure import rank_name
from pycaffe_dist.solver import Solver

LOG_FLT_MIN = -math.log(np.finfo(np.float32).tiny)  # 87.3365: what SoftmaxWithLoss is at most

REMEDY = "Try a lower base_lr, or clip_gradients."


class TrainingError(PcdError):
    """Training that cannot usefully go on."""


class LossGuard:
    """Looks at losses before the update that they would lead to, and at weights before a snapshot.

    At every loss, but for those on a device: they are looked at where the log is due and before a
    snapshot, so that training need not wait for each.  All ranks see the losses of all, so they
    stop together; the place is told by the rank whose loss it is.

    Args:
        solver: whose losses.
        on_nan: "stop", "snapshot" (write one, then stop) or "continue".
        say: where a remark goes.
    """

    def __init__(self, solver: Solver, on_nan: str, say: Callable[[str], object]) -> None:
        self.solver, self.on_nan, self.say = solver, on_nan, say
        self._explained = False
        solver.on_gradients_ready.append(self.look)
        solver.subscribers.append(self._before_snapshot)

    def look(self) -> None:
        if not self.solver.may_look(self.solver.last_loss):
            return
        loss = float(self.solver.last_loss)
        if math.isfinite(loss):
            if abs(loss - LOG_FLT_MIN) < 1e-3 and not self._explained:
                self._explained = True
                self.say(
                    "loss = 87.3365 is -log(FLT_MIN): the net gives the right class a probability "
                    "of 0. Most often the learning rate is too high, the input is not scaled, or "
                    "labels do not start from 0."
                )
            return
        if self.on_nan == "continue":
            if not self._explained:
                self._explained = True
                self.say(self._what_is_wrong())
            return
        self.solver.ranks.discard_update()
        text = self._what_is_wrong()
        if self.on_nan == "snapshot":
            self.solver.subscribers.remove(self._before_snapshot)  # it is asked for as it is
            self.solver.snapshot()
            text += f"; the weights are in {self.solver.snapshot_stem()}"
        raise TrainingError(f"{text}. {REMEDY}")

    def _what_is_wrong(self) -> str:
        ranks = self.solver.ranks
        losses = [float(loss) for loss in ranks.losses()]
        rank = next((r for r, loss in enumerate(losses) if not math.isfinite(loss)), 0)
        told = ranks.gather((rank_name(ranks.rank), first_non_finite(self.solver.net)))
        text = f"iteration {self.solver.iter}: the loss "
        if not told:  # rank 0 says it
            return f"{text}of rank {rank} is {losses[rank]:g}"
        name, place = told[rank]
        text += f"of {name} is" if ranks.size > 1 else "is"
        return f"{text} {losses[rank]:g}; first seen in {place}"

    def _before_snapshot(self, event: Event) -> None:
        """What cannot be gone on from is not written: the snapshot before it stays the newest."""
        if not isinstance(event, Snapshotting) or self.on_nan == "continue":
            return
        net = self.solver.net
        for param in net.params.learnable if event.what == "weights" else []:
            if not finite(param.blob.data):
                layer, blob = param.owner
                raise TrainingError(
                    f"iteration {event.iteration}: parameter {blob} of layer "
                    f'"{net.layer_names[layer]}" is no number after the last update; no snapshot '
                    f"was written. {REMEDY}"
                )


def finite(values: Array) -> bool:
    """Whether all are numbers: their sum is one then, unless it overflows."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def first_non_finite(net: Net) -> str:
    """The first layer, in forward order, with a parameter or an output that is no number.

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
