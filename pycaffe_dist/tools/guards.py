"""Guards: training that has gone wrong is stopped where it went wrong, and explained."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.net import Net
from pycaffe_dist.solver import Solver

LOG_FLT_MIN = -math.log(np.finfo(np.float32).tiny)  # 87.3365: what SoftmaxWithLoss is at most


class TrainingError(PcdError):
    """Training that cannot usefully go on."""


class LossGuard:
    """Looks at losses before the update that they would lead to.

    At every one, but for losses on a device: those are looked at where the log is due and before a
    snapshot, so that training need not wait for each.

    Args:
        solver: whose losses.
        on_nan: "stop", "snapshot" (write one, then stop) or "continue".
        say: where a remark goes.
    """

    def __init__(self, solver: Solver, on_nan: str, say: Callable[[str], object]) -> None:
        self.solver, self.on_nan, self.say = solver, on_nan, say
        self._explained = False
        solver.on_gradients_ready.append(self.look)

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
        place = first_non_finite(self.solver.net)
        text = f"iteration {self.solver.iter}: the loss is {loss:g}; first seen in {place}"
        if self.on_nan == "continue":
            if not self._explained:
                self._explained = True
                self.say(text)
            return
        if self.on_nan == "snapshot":
            self.solver.snapshot()
            text += f"; the weights before this update are in {self.solver.snapshot_stem()}"
        raise TrainingError(f"{text}. Try a lower base_lr, or clip_gradients.")


def first_non_finite(net: Net) -> str:
    """The first layer, in forward order, with a parameter or an output that is no number.

    The batch is run once more, layer by layer: inner blobs are not kept while a net trains.
    """
    net.recycling = None
    for i, layer in enumerate(net.layers):
        for j, blob in enumerate(layer.blobs):
            if not np.isfinite(blob.data).all():
                return f'layer "{layer.name}" ({layer.type}), parameter {j}'
        if net.bottom_ids[i]:
            net.forward(i, i)
        for t in net.top_ids[i]:
            if not np.isfinite(net.blobs[t].data).all():
                return f'layer "{layer.name}" ({layer.type}), top "{net.blob_names[t]}"'
    return "the loss itself: all blobs are finite"
