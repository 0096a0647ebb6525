"""ClusterStepper: what both ways of training on several ranks have in common.

Ranks tell each other their losses and what they are asked to do; what follows from it they decide
alike.  How gradients become updates is written by the subclasses: ``Dwbp``, where all ranks are in
the same iteration, and ``Ssp``, where they may be apart.  Neither knows how ranks are started.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array, DeviceArray
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.memory import HOST
from pycaffe_dist.parallel.agreement import SAME_WEIGHTS, agree, checksums
from pycaffe_dist.parallel.decisions import ACTIONS, LOSS, Decisions
from pycaffe_dist.parallel.exchange.parcel import Fabric, Parcel
from pycaffe_dist.parallel.exchange.way import Way
from pycaffe_dist.parallel.joint_losses import JointLosses
from pycaffe_dist.parallel.plan.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.sync_bn import Merging, batch_norms, separate, synchronise
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.solver import Action, Solver
from pycaffe_dist.solvers.stepper import BadLoss, Stepper, bad_loss

if TYPE_CHECKING:
    from pycaffe_dist.parallel.exchange.gate import Gate


@dataclass(frozen=True)
class Joint:
    """What a stepper works with: a solver among others, and what connects them."""

    solver: Solver
    settings: ClusterSettings
    plan: Plan
    fabric: Fabric
    way: Way


class ClusterStepper(Stepper):
    """Steps of a rank among several.

    It is made before the communication thread runs (shared memory is allocated by the main thread),
    and works from ``start`` until ``close``.
    """

    counts_labels = True  # of all ranks together, which have to be in the same pass

    def __init__(self, joint: Joint) -> None:
        super().__init__(joint.solver)
        self.joint, self.verdict = joint, joint.fabric.verdict
        self.communicator = joint.fabric.communicator
        self.parcels: list[Parcel] = []  # what is exchanged, if all ranks are in one iteration
        self._exact = Port(self.communicator)
        self._decisions = Decisions()
        self._row: list[float] = []  # of this rank, on the board of iteration _row_at
        self._row_at = 0
        self._board: Array | None = None  # the last that was read
        self._losses: DeviceArray = None  # where they travel between devices
        self._gate: Gate | None = None

    def start(self, thread: CommThread) -> None:
        """The communication thread runs, and all ranks have the same weights."""
        self.thread = thread
        solver, settings, several = self.solver, self.joint.settings, self.communicator.size > 1
        self._norms = batch_norms(solver.net) if several else []
        exact = self._norms if settings.sync_bn else ()
        self._merging = Merging(solver.net, exact) if several else None
        self._joint_losses = JointLosses(solver.net, thread, self.communicator, self.counts_labels)
        if settings.sync_bn:
            synchronise(self._norms, thread, self.joint.way.mean_over_ranks)

    def close(self) -> None:
        """Leave the net as it was; all ranks are here."""
        self._joint_losses.close()
        if self._merging:
            self._merging.close()
        if self.joint.settings.sync_bn:
            separate(self._norms)

    # -- what a subclass writes --------------------------------------------------------------

    @abstractmethod
    def take_history(self) -> None:
        """The solver has another history now, the same on all ranks."""

    @abstractmethod
    def gather_history(self) -> None:
        """The history of rank 0's solver becomes whole."""

    @abstractmethod
    def known_losses(self) -> Array | None:
        """Of all ranks in this iteration, if they are here already."""

    @abstractmethod
    def _clear(self) -> None: ...

    @abstractmethod
    def _apply(self) -> None: ...

    @abstractmethod
    def _finish_all(self) -> None:
        """All updates go into the weights."""

    @abstractmethod
    def _tell(self, row: Sequence[float]) -> None:
        """Tell the other ranks some numbers of this iteration."""

    @abstractmethod
    def _boards(self, settling: bool) -> list[tuple[int, Array]]:
        """The boards that all ranks read here: how old they are, and a row of each rank."""

    def _outputs(self) -> list[float]:
        """What a display will show, if it travels with the losses."""
        return []

    # -- an iteration ------------------------------------------------------------------------

    def clear_gradients(self) -> None:
        self._clear()
        self._joint_losses.begin_passes()

    def offer(self, loss: Loss) -> None:
        """Losses, and what ranks are asked to do, travel while backward computes."""
        asked = ACTIONS.index(self.solver.requested_action())
        outputs = self._outputs()
        if self.guarded and self._gate is None:
            self._gate = self.joint.way.gate(np.dtype(self.solver.context.dtype))
        self._losses = self.joint.way.losses(loss, self.solver.iter, self._gate)
        number = float(loss) if self._losses is None else 0.0
        self._row, self._row_at = [number, asked, *outputs], self.solver.iter
        self._tell(self._row)
        self.verdict.begin()

    def joint_loss(self) -> Loss:
        self._joint_losses.end_passes()
        self._read(settling=False)
        if self._losses is None:
            return float(np.mean(self.losses()))
        mean: Loss = self._losses.mean()
        return mean

    def apply_update(self) -> None:
        self._apply()
        every = self.joint.settings.check_every
        if every and self.solver.iter % every == 0:
            self.settle()
            self.compare_weights()

    def settle(self) -> None:
        self._finish_all()
        self._read(settling=True)
        if self._merging and self._merging.needed:
            self._merge(self._merging)

    def _merge(self, merging: Merging) -> None:
        way, engine = self.joint.way, self.solver.context.engine
        if way.home is HOST:
            self.thread.do(merging.steps(self._exact), "running statistics")
        else:
            merging.on_device(engine, way.mean_over_ranks)

    def compare_weights(self) -> None:
        agreed = agree(self.communicator, checksums(self.solver), SAME_WEIGHTS)
        self.thread.do(agreed, "checksums of the weights")

    # -- losses and requests -----------------------------------------------------------------

    def _read(self, settling: bool) -> None:
        for age, board in self._boards(settling):
            self._decisions.read(self._row_at - age, board)
            self._board = board

    def _to_show(self) -> Array:
        """The last board that was read; before there was one, the row of this rank."""
        return np.array([self._row]) if self._board is None else self._board

    def losses(self) -> list[float]:
        if self._losses is not None:
            return self._losses.all().get().tolist()
        losses: list[float] = self._to_show()[:, LOSS].tolist()
        return losses

    def take_bad_loss(self) -> BadLoss | None:
        if self._gate is not None:
            return self._gate.bad()
        if self._losses is not None:
            fine = math.isfinite(float(self.solver.last_loss))  # their mean: there already
            return None if fine else bad_loss(self.solver.iter, self.losses())
        return self._decisions.take_bad()

    def action(self) -> Action:
        return self._decisions.take_action()
