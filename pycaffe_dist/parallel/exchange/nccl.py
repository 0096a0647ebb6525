"""The way from device to device, by NCCL, where every rank has a device of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.engines.cupy import nccl as library
from pycaffe_dist.engines.cupy.devices import address
from pycaffe_dist.engines.cupy.engine import CupyEngine
from pycaffe_dist.engines.cupy.nccl import Nccl
from pycaffe_dist.engines.cupy.scalar import Scalar
from pycaffe_dist.errors import MissingPartError, PcdError
from pycaffe_dist.memory import Value
from pycaffe_dist.parallel.exchange.device import DeviceFabric, DeviceTimes
from pycaffe_dist.parallel.exchange.gate import Gate
from pycaffe_dist.parallel.exchange.parcel import Fabric, Parcel
from pycaffe_dist.parallel.exchange.way import Way
from pycaffe_dist.parallel.job.device_watch import DeviceWatch
from pycaffe_dist.parallel.plan.links import Links, measure_devices
from pycaffe_dist.parallel.schemes.scheme import Scheme, selectable
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.collectives import broadcast_object, gather_objects
from pycaffe_dist.parallel.transport.communicator import Communicator, run
from pycaffe_dist.parallel.transport.device_wire import WIRES
from pycaffe_dist.parallel.transport.plain import travels
from pycaffe_dist.solver import Solver

REMEDY = "NCCL_DEBUG=INFO in the environment tells more; --nccl off exchanges through host memory."


class DeviceWay(Way):
    """From device to device.

    Args:
        nccl: of this rank.
        settings: what was asked for.
        watch: is told of every exchange.
    """

    levels = False
    times: DeviceTimes

    def __init__(self, nccl: Nccl, settings: ClusterSettings, watch: DeviceWatch) -> None:
        super().__init__(f"GPU ranks exchange by NCCL {library.version()}")
        self.nccl, self.watch = nccl, watch
        self.wire = WIRES[settings.wire](nccl, mean=not settings.sum_updates)
        self.times = DeviceTimes()
        self.home = nccl.engine.home

    def links(self, communicator: Communicator) -> Links:
        return measure_devices(communicator, self.nccl)

    def exchange(self, scheme: Scheme) -> type[Parcel]:
        assert scheme.device is not None, scheme.name
        return scheme.device

    def fabric(self, plain: Fabric) -> DeviceFabric:
        return DeviceFabric(
            **vars(plain), nccl=self.nccl, wire=self.wire, watch=self.watch, times=self.times
        )

    def losses(self, loss: Loss, iteration: int, gate: Gate | None) -> DeviceLosses | None:
        if not isinstance(loss, Scalar):
            return None
        return DeviceLosses(self.nccl, self.watch, loss, iteration, gate)

    def gate(self, dtype: DType) -> Gate:
        return Gate(self.nccl.engine, dtype, self.nccl.size)

    def broadcast(self, values: Sequence[Value]) -> bool:
        """One group of calls for all."""
        arrays = [self._to_send(value) for value in values]
        issue = partial(self.nccl.broadcast, arrays, 0)
        self.watch.begin("weights of rank 0", self.nccl, issue).wait()
        return True

    def _to_send(self, value: Value) -> DeviceArray:
        """A value on the device; that of other ranks than 0 is not brought there first."""
        room = value.write(self.home) if self.nccl.rank == 0 else value.replace(self.home)
        return room[: value.count]

    def mean_over_ranks(self, values: DeviceArray) -> DeviceArray:
        mean = values.copy()
        issue = partial(self.nccl.all_reduce, [mean], mean=True)
        self.watch.begin("BatchNorm", self.nccl, issue).wait()
        return mean


class DeviceLosses:
    """The losses of all ranks in an iteration: they travel while backward computes.

    Args:
        nccl: of this rank.
        watch: is told of it.
        loss: of this rank.
        iteration: whose.
        gate: is shown them, if there is one.
    """

    def __init__(
        self, nccl: Nccl, watch: DeviceWatch, loss: Scalar, iteration: int, gate: Gate | None
    ) -> None:
        self._engine = nccl.engine
        self._mine = loss  # its memory is read until the others have it
        self._losses = nccl.engine.xp.empty(nccl.size, loss.place.dtype)

        def issue() -> None:
            nccl.all_gather([(loss.place, self._losses)])
            if gate is not None:
                gate.see(iteration, self._losses)

        self._pending = watch.begin("losses", nccl, issue)

    def all(self) -> DeviceArray:
        """An array on the device."""
        self._pending.wait()
        return self._losses

    def mean(self) -> Scalar:
        return Scalar(self._engine, self.all().sum() / self._losses.size)


# -- who takes part --------------------------------------------------------------------------------


@travels
@dataclass(frozen=True)
class Seat:
    """What a rank computes on, and what it has of NCCL: a version, or a word on what is missing."""

    node: int
    device: str
    version: str = ""
    problem: str = ""


@contextmanager
def meet(solver: Solver, settings: ClusterSettings, communicator: Communicator) -> Iterator[Way]:
    """Let the devices of all ranks find each other, for as long as the context lasts.

    After an error they part at once: what waits for another rank on the device would never end.

    Raises:
        PcdError: NCCL is there and does not work.
    """
    everybody = run(gather_objects(communicator, _seat(solver, communicator)))
    word = None
    if communicator.rank == 0:
        why = _why_not(everybody, settings)
        seen = any(seat.device for seat in everybody)
        word = why, seen, b"" if why else library.new_id()
    why, seen, unique_id = run(broadcast_object(communicator, word))
    if why:
        yield Way(f"GPU ranks exchange through host memory: {why}" if seen else "")
        return
    watch = DeviceWatch(settings.stall_timeout, communicator)
    with watch:
        nccl = _start(solver, communicator, unique_id, watch)
        try:
            yield DeviceWay(nccl, settings, watch)
        except BaseException:
            nccl.abort()
            raise
        nccl.close()


def _seat(solver: Solver, communicator: Communicator) -> Seat:
    engine, node = solver.context.engine, communicator.nodes.of_rank[communicator.rank]
    if not isinstance(engine, CupyEngine):
        return Seat(node, "", problem="computes on the CPU")
    device = address(engine.device)
    if not engine.updates(solver.rule):
        return Seat(node, device, problem=f"has no kernel for the rule {solver.rule.type}")
    try:
        return Seat(node, device, library.version())
    except MissingPartError as e:
        return Seat(node, device, problem=f"says: {e}")


def _why_not(seats: Sequence[Seat], settings: ClusterSettings) -> str:
    """Why NCCL is not the way; empty if it is."""
    if not settings.nccl:
        return "--nccl off"
    if settings.staleness:
        return "--staleness needs exchanges between any two ranks at any time"
    if settings.bandwidth:
        return "--bandwidth limits what MPI sends"
    for name in (settings.comm, *settings.comm_layer.values()):
        if name in selectable() and selectable()[name].device is None:
            return f"{name} has no exchange between devices"
    for rank, seat in enumerate(seats):
        if seat.problem:
            return f"rank {rank} {seat.problem}"
        if seat.version != seats[0].version:
            return f"rank {rank} has NCCL {seat.version}, rank 0 has {seats[0].version}"
    for (a, one), (b, other) in combinations(enumerate(seats), 2):
        if (one.node, one.device) == (other.node, other.device):
            return f"ranks {a} and {b} share the device {one.device}"
    return ""


def _start(
    solver: Solver, communicator: Communicator, unique_id: bytes, watch: DeviceWatch
) -> Nccl:
    """Start NCCL, and see that it adds up."""
    engine, rank, size = solver.context.engine, communicator.rank, communicator.size
    assert isinstance(engine, CupyEngine)
    watch.waiting("the start of NCCL", watch.others)
    try:
        nccl = Nccl(engine, rank, size, unique_id)
        right = nccl.check()
    except Exception as e:  # NCCL's and CUDA's own kinds
        raise PcdError(f"NCCL does not start on rank {rank} ({e}). {REMEDY}") from e
    if not right:
        raise PcdError(f"NCCL does not add up the numbers of {size} ranks. {REMEDY}")
    watch.done()
    return nccl
