"""What a solver leaves to whoever distributes it, as it is for a rank on its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pycaffe_dist import caffe_log as log

if TYPE_CHECKING:
    from pycaffe_dist.blob import Blob
    from pycaffe_dist.memory import Array
    from pycaffe_dist.solver import Action, Solver


@dataclass(frozen=True)
class BadLoss:
    """A loss that is no number: in which iteration, of which rank."""

    iteration: int
    rank: int
    loss: float


def bad_loss(iteration: int, losses: Sequence[float]) -> BadLoss | None:
    """The first of the ranks' losses in an iteration that is no number."""
    for rank, loss in enumerate(losses):
        if not math.isfinite(loss):
            return BadLoss(iteration, rank, loss)
    return None


def warn_of_lost(params: int) -> None:
    text = "The snapshot has residuals of %d parameters, and none of them is exchanged by a scheme "
    text += "that has residuals now: what was not sent of their gradients is lost"
    log.warning("solver.cpp", text, params)


class OneRank:
    """A solver's ranks when there is one.  Distribution puts its own in its place.

    All ranks call these at the same points of the same iterations.
    """

    rank = 0
    size = 1
    share_batches = False  # whether passes of the net have to be made by all ranks together

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self._loss = 0.0

    def clear_gradients(self) -> None:
        """An iteration begins: no gradient of the last one may be added to."""
        self.solver.net.clear_param_diffs()

    def apply_update(self) -> None:
        """The gradients of an iteration are there: they go into the weights, now or in time."""
        solver = self.solver
        step = solver.begin_update()
        solver.clip_gradients(step)
        for i in range(len(solver.net.params.learnable)):
            solver.update_param(i, step)
        solver.end_update(step)

    def settle(self) -> None:
        """Somebody will look at the weights: all updates go into them now."""

    def offer(self, loss: float) -> None:
        """The forward passes of an iteration are over, with this loss."""
        self._loss = loss

    def joint_loss(self) -> float:
        """The mean over all ranks of what they offered."""
        return self._loss

    def losses(self) -> list[float]:
        """What each rank offered."""
        return [self._loss]

    def take_bad_loss(self) -> BadLoss | None:
        """A loss that is no number, of those that all ranks know now and nobody has taken yet."""
        return bad_loss(self.solver.iter, [float(self._loss)])

    def bad_alone(self) -> bool:
        """Whether this rank's loss is no number, which the others will know only later."""
        return False

    def discard_update(self) -> None:
        """The gradients of this iteration are not to go into the weights.

        Those that are in them already, by a scheme that updates as it exchanges, stay.
        """

    def action(self) -> Action:
        """What all ranks do next, because one of them is asked for it."""
        return self.solver.requested_action()

    def shown(self, values: list[float]) -> list[float]:
        """The means over all ranks of what an iteration's display shows."""
        return values

    def mean(self, values: list[float]) -> list[float]:
        """The means of ``values`` over all ranks."""
        return values

    @contextmanager
    def whole_history(self) -> Iterator[Iterable[Blob]]:
        """The solver's history, for a snapshot; of use on rank 0 only."""
        yield self.solver.history

    def gather(self, state: Any) -> list[Any]:
        """What every rank gives as ``state``, in the order of ranks; of use on rank 0 only."""
        return [state]

    def own_values(self) -> dict[tuple[int, int], Array]:
        """What ranks keep for themselves from step to step, by rank and parameter; on rank 0."""
        return {}

    def deal_own_values(self, stored: dict[tuple[int, int], Array]) -> None:
        """Rank 0 has read such values of a snapshot: each rank gets its own."""
        if stored:
            warn_of_lost(len({p for _, p in stored}))

    def restored(self, state: Any) -> Any:
        """Rank 0 has read a snapshot, and ``state`` besides, which all get."""
        return state
