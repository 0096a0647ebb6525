"""Cluster: a solver's ranks when there are several, or one on the same path.

with distribute(solver, settings, connect()) as cluster:
    solver.solve()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.events import Event, Snapshotting
from pycaffe_dist.parallel.agreement import agree, facts
from pycaffe_dist.parallel.dwbp import Dwbp
from pycaffe_dist.parallel.exchange.parcel import Fabric, Parcel
from pycaffe_dist.parallel.exchange.way import Way
from pycaffe_dist.parallel.job.launcher import by_open_mpi, rank_and_size
from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, another_mpi
from pycaffe_dist.parallel.job.watchdog import Watchdog
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.plan.kept_plan import kept_plan, note_plan
from pycaffe_dist.parallel.plan.links import USUAL
from pycaffe_dist.parallel.plan.plan import Plan, make_plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.ssp.ssp import Ssp
from pycaffe_dist.parallel.stepper import ClusterStepper, Joint
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
from pycaffe_dist.parallel.transport.plain import Plain
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import VALUES
from pycaffe_dist.parallel.transport.wire import create_wire
from pycaffe_dist.parallel.verdict import Verdict
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers.one_rank import OneRank
from pycaffe_dist.solvers.stepper import Stepper


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
    """Rank 0 decides, for all: a resumed run has its plan already."""
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
        self.solver, self.way = solver, way
        self.settings, self.communicator, self.plan = settings, communicator, plan
        self.recorder = recorder
        recorder.device_times = way.times
        self.rank, self.size = communicator.rank, communicator.size
        self.share_batches = settings.sync_bn
        self._exact = Port(communicator)
        joint = Joint(solver, settings, plan, self._fabric(), way)
        self.stepper: ClusterStepper = Ssp(joint) if settings.staleness else Dwbp(joint)
        self._take_from_rank_0(run)
        self.stepper.take_history()
        self.thread = CommThread(communicator, recorder, watchdog).start()
        self.stepper.start(self.thread)
        solver.subscribers.append(self._before_snapshot)
        solver.ranks, solver.stepper = self, self.stepper

    @property
    def parcels(self) -> list[Parcel]:
        """What is exchanged, where all ranks are in the same iteration."""
        return self.stepper.parcels

    def _fabric(self) -> Fabric:
        s = self.settings
        pace = TokenBucket(s.bandwidth / 8) if s.bandwidth else None
        port = Port(self.communicator, create_wire(s.wire), pace)
        plain = Fabric(
            communicator=self.communicator,
            node=Node(self.communicator),
            port=port,
            scale=1.0 if s.sum_updates else 1.0 / self.size,
            verdict=Verdict(lambda: self.stepper.known_losses()),
            options=s.scheme_options,
        )
        return self.way.fabric(plain)

    def _take_from_rank_0(self, do: Callable[[Steps[Any]], Any]) -> None:
        """Weights, history and iteration become rank 0's; ``do`` makes the hosts' steps."""
        blobs = do(self._place_of_rank_0())
        if not self.way.broadcast([blob.data_value for blob in blobs]):
            do(self._broadcast(blobs))

    def _place_of_rank_0(self) -> Steps[list[Blob]]:
        """Be in the iteration of rank 0; what it has to send besides."""
        solver = self.solver
        filled = [not blob.data_value.is_zero for blob in solver.history]
        at = solver.iter, solver.current_step, vars(solver.plateau), filled
        at = yield from broadcast_object(self.communicator, at)
        solver.iter, solver.current_step, seen, filled = at
        vars(solver.plateau).update(seen)
        blobs = [param.blob for param in solver.net.params.learnable]
        blobs += [blob for blob, used in zip(solver.history, filled, strict=True) if used]
        return blobs

    def _broadcast(self, blobs: Sequence[Blob]) -> Steps[None]:
        for blob in blobs:
            yield from broadcast(self._exact, self.size, blob.data.reshape(-1), VALUES)

    def close(self) -> None:
        """Finish together with the others, and leave the solver as it would be on its own."""
        self.stepper.settle()
        self.stepper.close()
        self.stepper.gather_history()
        self.solver.subscribers.remove(self._before_snapshot)
        self.solver.ranks, self.solver.stepper = OneRank(), Stepper(self.solver)
        self.share(None)  # nobody leaves while others still expect something
        self.thread.close()

    # -- what the solver asks ----------------------------------------------------------------

    def mean(self, values: list[float]) -> list[float]:
        array = np.array(values)
        self.thread.do(mean(self._exact, array), "outputs")
        means: list[float] = array.tolist()
        return means

    def share(self, value: Plain) -> Plain:
        """What rank 0 has."""
        return self.thread.do(broadcast_object(self.communicator, value), "a decision of rank 0")

    def gather(self, state: Plain) -> list[Plain]:
        return self.thread.do(gather_objects(self.communicator, state), "the states of ranks")

    def _before_snapshot(self, event: Event) -> None:
        if isinstance(event, Snapshotting):
            note_plan(self.solver, self.settings, self.plan)

    def restored(self, state: Plain) -> Plain:
        self._take_from_rank_0(lambda steps: self.thread.do(steps, "a snapshot"))
        self.stepper.take_history()
        return self.share(state)
