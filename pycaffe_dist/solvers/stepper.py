"""Stepper: what a solver asks in every iteration, and how it is answered on a rank of its own.

A solver runs the passes; its stepper says when gradients are cleared, shares the loss, and makes
the update.  Where several ranks train together, another stepper takes the place of this one:
``parallel/dwbp.py``, or ``parallel/ssp/ssp.py`` where ranks may be ahead of each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pycaffe_dist import caffe_log as log

if TYPE_CHECKING:
    from pycaffe_dist.blob import Blob
    from pycaffe_dist.engines.base import Loss
    from pycaffe_dist.memory import Array
    from pycaffe_dist.solver import Action, Solver
    from pycaffe_dist.update_step import UpdateStep


@dataclass(frozen=True)
class BadLoss:
    """A loss that is NaN or infinite: in which iteration, of which rank."""

    iteration: int
    rank: int
    loss: float


def bad_loss(iteration: int, losses: Sequence[float]) -> BadLoss | None:
    """The first of the ranks' losses in an iteration that is NaN or infinite."""
    for rank, loss in enumerate(losses):
        if not math.isfinite(loss):
            return BadLoss(iteration, rank, loss)
    return None


def warn_of_lost(params: int) -> None:
    text = "The snapshot has residuals of %d parameters, and none of them is exchanged by a scheme "
    text += "that has residuals now: what was not sent of their gradients is lost"
    log.warning("solver.cpp", text, params)


class Stepper:
    """Steps of a rank on its own; the base of the other steppers.

    An iteration calls, in this order: ``clear_gradients``, forward passes, ``offer``, the last
    backward pass, ``joint_loss``, then ``apply_update`` or ``discard_update``.  All ranks call them
    at the same points of the same iterations.

    Attributes:
        guarded: whether somebody stops the training at a bad loss: then its update must not reach
            the weights, even if that somebody looks later.
    """

    guarded = False

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self._loss: Loss = 0.0

    def clear_gradients(self) -> None:
        """An iteration begins: no gradient of the last one may be added to."""
        self.solver.net.clear_param_diffs()

    def offer(self, loss: Loss) -> None:
        """The forward passes of an iteration are over, with this loss."""
        self._loss = loss

    def joint_loss(self) -> Loss:
        """The mean over all ranks of what they offered."""
        return self._loss

    def losses(self) -> list[float]:
        """What each rank offered."""
        return [float(self._loss)]

    def take_bad_loss(self) -> BadLoss | None:
        """A bad loss among those that all ranks know now and nobody has taken yet."""
        return bad_loss(self.solver.iter, [float(self._loss)])

    def bad_alone(self) -> bool:
        """Whether this rank's loss is bad, which the others will know only later."""
        return False

    def shown(self, values: list[float]) -> list[float]:
        """The means over all ranks of what an iteration's display shows."""
        return values

    def action(self) -> Action:
        """What all ranks do next, because one of them is asked for it."""
        return self.solver.requested_action()

    def apply_update(self) -> None:
        """The gradients of an iteration are there: they go into the weights, now or in time."""
        solver = self.solver
        step = self.unscaled(solver.begin_update())
        solver.clip_gradients(step)
        solver.update_params(range(len(solver.net.params.learnable)), step)
        solver.end_update(step)

    def unscaled(self, step: UpdateStep) -> UpdateStep:
        """Where the loss is scaled, make true gradients of those that are there."""
        scale = self.solver.loss_scale
        return step if scale is None else scale.settle(step)

    def discard_update(self) -> None:
        """The gradients of this iteration are not to go into the weights.

        Those that are in them already, by a scheme that updates as it exchanges, stay.
        """

    def settle(self) -> None:
        """Somebody will look at the weights: all updates go into them now."""

    # -- snapshots ---------------------------------------------------------------------------

    @contextmanager
    def whole_history(self) -> Iterator[Iterable[Blob]]:
        """The solver's history, for a snapshot; of use on rank 0 only."""
        yield self.solver.history

    def own_values(self) -> dict[tuple[int, int], Array]:
        """What ranks keep for themselves from step to step, by rank and parameter; on rank 0."""
        return {}

    def deal_own_values(self, stored: dict[tuple[int, int], Array]) -> None:
        """Rank 0 has read such values of a snapshot: each rank gets its own."""
        if stored:
            warn_of_lost(len({p for _, p in stored}))
