"""Cluster: a solver's ranks when there are several, or one on the same path.

with distribute(solver, settings, connect()) as cluster:
    solver.solve()
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.events import Event, Snapshotting
from pycaffe_dist.memory import Array
from pycaffe_dist.parallel.agreement import SAME_WEIGHTS, agree, checksums, facts
from pycaffe_dist.parallel.board import Board
from pycaffe_dist.parallel.decisions import ACTIONS, LOSS, OUTPUTS, Decisions
from pycaffe_dist.parallel.dwbp import Dwbp
from pycaffe_dist.parallel.exchange import own_values
from pycaffe_dist.parallel.exchange.parcel import Contents, Fabric, Parcel
from pycaffe_dist.parallel.exchange.way import Way
from pycaffe_dist.parallel.job.launcher import by_open_mpi, rank_and_size
from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, another_mpi
from pycaffe_dist.parallel.job.watchdog import Watchdog
from pycaffe_dist.parallel.joint_losses import JointLosses
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.plan.kept_plan import kept_plan, note_plan
from pycaffe_dist.parallel.plan.links import USUAL
from pycaffe_dist.parallel.plan.plan import Entry, Plan, make_plan
from pycaffe_dist.parallel.schemes.scheme import schemes
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.ssp.ssp import Ssp
from pycaffe_dist.parallel.sync_bn import Merging, batch_norms, separate, synchronise
from pycaffe_dist.parallel.transport.budget import TokenBucket
from pycaffe_dist.parallel.transport.collectives import (
    broadcast,
    broadcast_object,
    gather_objects,
    mean,
)
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.communicator import Communicator, Steps, run
from pycaffe_dist.parallel.transport.node import Node
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import VALUES
from pycaffe_dist.parallel.transport.wire import create_wire
from pycaffe_dist.parallel.verdict import Verdict
from pycaffe_dist.solver import Action, Solver, outputs_of
from pycaffe_dist.solvers.one_rank import BadLoss, OneRank, bad_loss


def connect() -> Communicator:
    """The communicator of the ranks that a launcher has started; solo without one.

    Raises:
        MissingPartError: the launcher is of another MPI than mpi4py's library.
    """
    ranks = rank_and_size()[1]
    if ranks == 1:
        return SoloCommunicator()
    from pycaffe_dist.parallel.transport.mpi import MpiCommunicator, library

    vendor, file = library()
    if by_open_mpi() and vendor != OPEN_MPI:  # MPICH's library would end us in words of its own
        raise another_mpi(ranks, f"is {vendor} ({file})")
    communicator = MpiCommunicator()
    if communicator.size != ranks:
        raise another_mpi(ranks, f"knows of {communicator.size}")
    return communicator


class Stepper(Protocol):
    """How gradients of an iteration become updates."""

    def clear_gradients(self) -> None: ...
    def apply_update(self) -> None: ...
    def settle(self) -> None: ...
    def close(self) -> None: ...


class Notes(Protocol):
    """What ranks tell each other of an iteration."""

    def offer(self, values: Sequence[float]) -> None: ...
    def read(self, settling: bool) -> list[tuple[int, Array]]: ...


@contextmanager
def distribute(
    solver: Solver,
    settings: ClusterSettings,
    communicator: Communicator,
    plan: Plan | None = None,
    recorder: Recorder | None = None,
    watchdog: Watchdog | None = None,
) -> Iterator[Cluster]:
    """Train ``solver`` together with those of the other ranks, as long as the context lasts.

    All start from rank 0's weights.  Leaving it in order waits for the others; after an error
    nothing is waited for: whoever catches it ends the job.

    Args:
        solver: of this rank.
        settings: what was asked for.
        communicator: which nobody else uses as long as the context lasts.
        plan: the same on all ranks; if not given, that of rank 0's notes, or made by rank 0.
        recorder: is told what is exchanged and waited for.
        watchdog: is told who is waited for; ``watch`` makes it if it is not given.
    """
    recorder = recorder or Recorder(communicator.rank)
    with ExitStack() as stack:
        watchdog = watchdog or stack.enter_context(watch(settings, communicator))
        with watchdog.during("what all begin with", communicator.awaited):
            way = stack.enter_context(_find_way(solver, settings, communicator))
            if plan is None:
                plan = _plan(solver, settings, communicator, way)
            run(agree(communicator, facts(solver, settings, plan)))
            cluster = Cluster(solver, settings, communicator, plan, recorder, watchdog, way)
        yield cluster
        cluster.close()


def watch(settings: ClusterSettings, communicator: Communicator) -> Watchdog:
    """A watchdog that knows where ranks are."""
    hosts = [communicator.nodes.host(rank) for rank in range(communicator.size)]
    return Watchdog(settings.stall_timeout if len(hosts) > 1 else 0, hosts)


@contextmanager
def _find_way(
    solver: Solver, settings: ClusterSettings, communicator: Communicator
) -> Iterator[Way]:
    if communicator.size == 1:
        yield Way()
        return
    # It brings the GPU engine, which takes its time.
    from pycaffe_dist.parallel.exchange.nccl import meet

    with meet(solver, settings, communicator) as way:
        yield way


def _plan(solver: Solver, settings: ClusterSettings, communicator: Communicator, way: Way) -> Plan:
    """Rank 0 decides, for all: a run that goes on has its plan already."""
    ranks, nodes, first = communicator.size, communicator.nodes.count, communicator.rank == 0
    kept = kept_plan(solver, settings, ranks, nodes) if first else None
    plan: Plan | None = run(broadcast_object(communicator, kept))
    if plan is not None:
        return plan
    links = USUAL if settings.deterministic else way.links(communicator)
    if first:
        speakers = nodes if way.levels else ranks
        plan = make_plan(solver.net, settings, ranks, speakers, links, solver.param)
        plan = replace(plan, nodes=nodes)
    made: Plan = run(broadcast_object(communicator, plan))
    return made


class Cluster(OneRank):
    """All ranks of a run, as one of them sees them."""

    def __init__(
        self,
        solver: Solver,
        settings: ClusterSettings,
        communicator: Communicator,
        plan: Plan,
        recorder: Recorder,
        watchdog: Watchdog,
        way: Way,
    ) -> None:
        super().__init__(solver)
        self.way = way
        self.settings, self.communicator, self.plan = settings, communicator, plan
        self.recorder = recorder
        recorder.device_times = way.times
        self.rank, self.size = communicator.rank, communicator.size
        self.share_batches = settings.sync_bn
        self._exact = Port(communicator)
        self._decisions = Decisions()
        self._row: list[float] = []  # of this rank, on the board of iteration _row_at
        self._row_at = 0
        self._board: Array | None = None  # the last that was read
        self.parcels: list[Parcel] = []
        self.ssp: Ssp | None = None
        self._losses: Any = None  # where they travel between devices
        self.verdict = Verdict(self._known_losses)
        fabric = self._fabric()
        if not settings.staleness:
            self.parcels = [
                self._parcel(fabric, number, entries)
                for number, entries in enumerate(together(plan.entries))
            ]
        run(self._from_rank_0())
        self._take_histories()
        self.thread = CommThread(communicator, recorder, watchdog).start()
        self.stepper: Stepper
        self.notes: Notes
        if settings.staleness:
            groups = together(plan.entries)
            self.ssp = Ssp(solver, groups, fabric, self.thread, settings.staleness)
            self.stepper = self.notes = self.ssp
        else:
            self.stepper = Dwbp(solver, self.parcels, self.thread, self.verdict, settings.overlap)
            self.notes = Board(self.thread)
        self._norms = batch_norms(solver.net) if self.size > 1 else []
        exact = self._norms if settings.sync_bn else ()
        self._merging = Merging(solver.net, exact) if self.size > 1 else None
        self._joint_losses = JointLosses(
            solver.net, self.thread, communicator, not settings.staleness
        )
        if settings.sync_bn:
            synchronise(self._norms, self.thread, self.way.mean_over_ranks)
        solver.subscribers.append(self._before_snapshot)
        solver.ranks = self

    def _fabric(self) -> Fabric:
        s = self.settings
        pace = TokenBucket(s.bandwidth / 8) if s.bandwidth else None
        port = Port(self.communicator, create_wire(s.wire), pace)
        scale = 1.0 if s.sum_updates else 1.0 / self.size
        return self.way.fabric(
            Fabric(
                self.communicator,
                Node(self.communicator),
                port,
                scale,
                self.verdict,
                s.scheme_options,
            )
        )

    def _parcel(self, fabric: Fabric, number: int, entries: list[Entry]) -> Parcel:
        scheme = schemes()[entries[0].scheme]
        params = tuple(p for entry in entries for p in entry.params)
        layer = min(entry.layer for entry in entries)
        contents = Contents(scheme, params, layer, number)
        return self.way.exchange(scheme)(fabric, self.solver, contents)

    def _from_rank_0(self) -> Steps[None]:
        """Weights, history and iteration become rank 0's."""
        solver = self.solver
        filled = [not blob.data_value.is_zero for blob in solver.history]
        at = solver.iter, solver.current_step, vars(solver.plateau), filled
        at = yield from broadcast_object(self.communicator, at)
        solver.iter, solver.current_step, seen, filled = at
        vars(solver.plateau).update(seen)
        blobs = [param.blob for param in solver.net.params.learnable]
        blobs += [blob for blob, used in zip(solver.history, filled, strict=True) if used]
        for blob in blobs:
            yield from self._broadcast(blob)

    def _broadcast(self, blob: Blob) -> Steps[None]:
        yield from broadcast(self._exact, self.size, blob.data.reshape(-1), VALUES)

    def _take_histories(self) -> None:
        for parcel in self._updating():
            parcel.take_history()
        if self.ssp is not None:
            self.ssp.take_history()

    def _updating(self) -> list[Parcel]:
        return [parcel for parcel in self.parcels if parcel.updates]

    def close(self) -> None:
        """Finish together with the others, and leave the solver as it would be on its own."""
        self.settle()
        self.stepper.close()
        self._joint_losses.close()
        if self._merging:
            self._merging.close()
        if self.settings.sync_bn:
            separate(self._norms)
        self._gather_histories()
        self.solver.subscribers.remove(self._before_snapshot)
        self.solver.ranks = OneRank(self.solver)
        self.share(None)  # nobody leaves while others still expect something
        self.thread.close()

    # -- what the solver asks ----------------------------------------------------------------

    def clear_gradients(self) -> None:
        self.stepper.clear_gradients()
        self._joint_losses.begin_passes()

    def apply_update(self) -> None:
        self.stepper.apply_update()
        every = self.settings.check_every
        if every and self.solver.iter % every == 0:
            self.settle()
            self._compare_weights()

    def discard_update(self) -> None:
        self.verdict.decide(False)
        for parcel in self.parcels:
            if parcel.job is not None:
                parcel.discard(self.thread)

    def settle(self) -> None:
        self.stepper.settle()
        self._read(settling=True)
        if self._merging and self._merging.needed:
            self.thread.do(self._merging.steps(self._exact), "running statistics")

    def offer(self, loss: Loss) -> None:
        """Losses, and what ranks are asked to do, travel while backward computes."""
        asked = ACTIONS.index(self.solver.requested_action())
        outputs = [o.value for o in outputs_of(self.solver.net)] if self.ssp else []
        self._losses = self.way.losses(loss)
        number = float(loss) if self._losses is None else 0.0
        self._row, self._row_at = [number, asked, *outputs], self.solver.iter
        self.notes.offer(self._row)
        self.verdict.begin()

    def joint_loss(self) -> Loss:
        self._joint_losses.end_passes()
        self._read(settling=False)
        return float(np.mean(self.losses())) if self._losses is None else self._losses.mean()

    def _read(self, settling: bool) -> None:
        """Read the boards that all ranks read here."""
        for age, board in self.notes.read(settling):
            self._decisions.read(self._row_at - age, board)
            self._board = board

    def _to_show(self) -> Array:
        """The last board that was read; before there was one, the row of this rank."""
        return np.array([self._row]) if self._board is None else self._board

    def _known_losses(self) -> Array | None:
        """Of all ranks in this iteration, if they are here already."""
        if self._losses is None and isinstance(self.notes, Board) and self.notes.complete:
            return self.notes.offered()[:, LOSS]
        return None

    def losses(self) -> list[float]:
        if self._losses is not None:
            return self._losses.all().get().tolist()  # type: ignore[no-any-return]
        losses: list[float] = self._to_show()[:, LOSS].tolist()
        return losses

    def take_bad_loss(self) -> BadLoss | None:
        if self._losses is not None:
            fine = math.isfinite(float(self.solver.last_loss))  # their mean: there already
            return None if fine else bad_loss(self.solver.iter, self.losses())
        return self._decisions.take_bad()

    def bad_alone(self) -> bool:
        return self.ssp is not None and not math.isfinite(self._row[LOSS])

    def action(self) -> Action:
        return self._decisions.take_action()

    def shown(self, values: list[float]) -> list[float]:
        if self.ssp is None:
            return self.mean(values)
        means: list[float] = self._to_show()[:, OUTPUTS].mean(axis=0).tolist()
        return means

    def mean(self, values: list[float]) -> list[float]:
        array = np.array(values)
        self.thread.do(mean(self._exact, array), "outputs")
        means: list[float] = array.tolist()
        return means

    def share(self, value: Any) -> Any:
        """What rank 0 has."""
        return self.thread.do(broadcast_object(self.communicator, value), "a decision of rank 0")

    def gather(self, state: Any) -> list[Any]:
        return self.thread.do(gather_objects(self.communicator, state), "the states of ranks")

    def _compare_weights(self) -> None:
        agreed = agree(self.communicator, checksums(self.solver), SAME_WEIGHTS)
        self.thread.do(agreed, "checksums of the weights")

    @contextmanager
    def whole_history(self) -> Iterator[Iterable[Blob]]:
        self._compare_weights()  # a snapshot speaks for all ranks
        if self.ssp is not None:
            yield self.ssp.mean_history()
            return
        self._gather_histories()
        yield self.solver.history
        for parcel in self._updating():
            parcel.drop_history()

    def _before_snapshot(self, event: Event) -> None:
        if isinstance(event, Snapshotting):
            note_plan(self.solver, self.settings, self.plan)

    def _gather_histories(self) -> None:
        for parcel in self._updating():
            self.thread.do(parcel.gather_history(), parcel.name, "history")

    def own_values(self) -> dict[tuple[int, int], Array]:
        return own_values.gather(self.parcels, self.thread)

    def deal_own_values(self, stored: dict[tuple[int, int], Array]) -> None:
        own_values.deal(self.parcels, self.thread, stored)

    def restored(self, state: Any) -> Any:
        self.thread.do(self._from_rank_0(), "a snapshot")
        self._take_histories()
        return self.share(state)


def together(entries: tuple[Entry, ...]) -> list[list[Entry]]:
    """Entries by what travels together: those of a bucket, or one."""
    found: dict[Any, list[Entry]] = {}
    for i, entry in enumerate(entries):
        key = ("alone", i) if entry.bucket is None else ("bucket", entry.bucket)
        found.setdefault(key, []).append(entry)
    return list(found.values())
