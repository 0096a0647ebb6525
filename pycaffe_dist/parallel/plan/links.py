"""What exchanges run on: links between and within nodes, and how fast a rank computes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pycaffe_dist.aliases import Array, ArrayModule
from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.transport.communicator import Communicator, Steps, done, run
from pycaffe_dist.parallel.transport.streams import Port, Receiving, Sending
from pycaffe_dist.parallel.transport.tags import NUMBERS, RING

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.nccl import Nccl

HANDLING = 2e-9  # of TCP's and MPI's copies, for a byte sent and a byte received
PINGS, TRIALS = 9, 3
FIRST, MOST = 1 << 20, 1 << 25  # bytes sent to find the size, and at most
AIM = 0.05  # seconds that one trial of the bandwidth should take
SIDE, ROWS = 1024, 256  # of the GEMM: AᵀB with A, B: (ROWS, SIDE)
COPIED, SHARED = 1 << 24, 1 << 22  # bytes, in a rank's own memory; in a node's, or from a device
UNITS = {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


@dataclass(frozen=True)
class AlphaBeta:
    """Sending n bytes takes alpha + n · beta seconds."""

    alpha: float
    beta: float


@dataclass(frozen=True)
class Links:
    """Measured at start, or stated.

    Attributes:
        between: of a node to others, all nodes sending at once; ranks of a node share it.
        within: into and out of memory that the ranks of a node share.
        gemm_flops: of a rank, a second.
        memory_bandwidth: bytes a second that a rank reads and writes.
        handling: seconds of a rank's processor for a byte that it sends between nodes.
        forward, backward: milliseconds by layer, where they were measured.
    """

    between: AlphaBeta
    within: AlphaBeta
    gemm_flops: float
    memory_bandwidth: float
    handling: float = HANDLING
    forward: tuple[float, ...] | None = None
    backward: tuple[float, ...] | None = None


# Of a cluster that nobody has measured: gigabit links between nodes of common processors.
USUAL = Links(AlphaBeta(1e-4, 8e-9), AlphaBeta(5e-6, 2e-10), 40e9, 12e9)


def bits_per_second(text: str) -> float:
    """``1gbit``, ``2.5Gbit/s``, ``200mbit``, or a plain number of bits."""
    found = re.fullmatch(r"\s*([0-9.eE+]+)\s*([kmg]?bit)?(?:/s|ps)?\s*", text.lower())
    try:
        value = float(found[1]) * UNITS[found[2] or "bit"] if found else 0.0
    except ValueError:
        value = 0.0
    if value <= 0:
        raise NetError(f"{text!r} is no bandwidth; write for example 1gbit, 2.5gbit or 200mbit")
    return value


# -- measuring -------------------------------------------------------------------------------------


def measure_links(comm: Communicator, xp: ArrayModule = np) -> Links:
    """Measure with all ranks at once; every rank gets the slowest of all.

    Neighbours in a ring of node leaders send to each other, so that both directions are in use, as
    they are in the exchanges; ranks of a node write to its shared memory and read a neighbour's.
    """
    leaders = comm.nodes.leaders if comm.rank in comm.nodes.leaders else ()
    between, handling = _measure_ring(comm, leaders)
    within = _measure_node(comm)
    flops, bandwidth = measure_rank(xp)
    slowest = _slowest(comm, (1 / flops, 1 / bandwidth))
    return Links(between, within, 1 / slowest[0], 1 / slowest[1], handling or HANDLING)


def measure_devices(comm: Communicator, nccl: Nccl) -> Links:
    """Measure with all devices at once, each sending its part to all others."""
    xp = nccl.engine.xp
    flops, bandwidth = measure_rank(xp)

    def seconds(count: int) -> float:
        part, whole = xp.zeros(count, np.float32), xp.zeros(comm.size * count, np.float32)

        def exchange() -> None:
            nccl.begin(lambda: nccl.all_gather([(part, whole)])).wait()
            float(whole[0])

        return _best(exchange) / (comm.size - 1)

    alpha, long = seconds(1), seconds(SHARED // 4)
    alpha, long, flop, byte = _slowest(comm, (alpha, long, 1 / flops, 1 / bandwidth))
    link = AlphaBeta(alpha, max(0.0, long - alpha) / SHARED)
    return Links(link, link, 1 / flop, 1 / byte, handling=0.0)


def measure_rank(xp: ArrayModule = np) -> tuple[float, float]:
    """(flops a second of a GEMM, bytes a second read and written) of this process."""
    # Two arrays: of one with itself NumPy computes half.
    a, b = xp.ones((ROWS, SIDE), np.float32), xp.ones((ROWS, SIDE), np.float32)
    out = xp.empty((SIDE, SIDE), np.float32)
    source, target = xp.ones(COPIED, np.uint8), xp.empty(COPIED, np.uint8)

    def multiply() -> None:
        xp.matmul(a.T, b, out=out)
        float(out[0, 0])  # a GPU is done only when it is asked

    def copy() -> None:
        target[:] = source
        int(target[0])

    return 2 * ROWS * SIDE * SIDE / _best(multiply), 2 * COPIED / _best(copy)


def _best(work: Callable[[], None]) -> float:
    work()
    seconds = []
    for _ in range(TRIALS):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def _measure_ring(comm: Communicator, members: Sequence[int]) -> tuple[AlphaBeta, float]:
    """(alpha and beta, processor seconds a byte) of the slowest; ranks that have no ring wait."""
    alpha = _slowest(comm, (time_ring(comm, members, 1, PINGS)[0],))[0]
    first = _slowest(comm, (time_ring(comm, members, FIRST, 1)[0],))[0]
    if not first:  # nobody has a ring
        return AlphaBeta(0.0, 0.0), 0.0
    size = int(min(MOST, max(FIRST, FIRST * AIM / first)))
    seconds, busy = _slowest(comm, time_ring(comm, members, size, TRIALS))
    return AlphaBeta(alpha, max(0.0, seconds - alpha) / size), busy / size


def _measure_node(comm: Communicator) -> AlphaBeta:
    mates = comm.nodes.mates(comm.rank)
    alpha = _slowest(comm, (time_ring(comm, mates, 1, PINGS)[0],))[0]
    seconds = 0.0
    if len(mates) > 1:
        me = mates.index(comm.rank)
        room = comm.share(len(mates) * SHARED, np.uint8).reshape(len(mates), SHARED)
        own = np.ones(SHARED, np.uint8)

        def through() -> None:
            room[me] = own
            own[:] = room[me - 1]

        seconds = _best(through)
    return AlphaBeta(alpha, _slowest(comm, (seconds,))[0] / SHARED)


def time_ring(
    comm: Communicator, ring: Sequence[int], size: int, trials: int
) -> tuple[float, float]:
    """Least seconds, by the clock and of the processor, to send ``size`` bytes to the next."""
    if len(ring) < 2:
        return 0.0, 0.0
    me = ring.index(comm.rank)
    port = Port(comm)
    after, before = ring[(me + 1) % len(ring)], ring[me - 1]
    out, into = np.ones(size // 4 or 1, np.float32), np.empty(size // 4 or 1, np.float32)
    clock, busy = [], []
    for _ in range(trials):
        run(_around(port, after, before, out[:1], into[:1]))  # all are here
        begin, worked = time.perf_counter(), time.thread_time()
        run(_around(port, after, before, out, into))
        clock.append(time.perf_counter() - begin)
        busy.append(time.thread_time() - worked)
    return min(clock), min(busy)


def _around(port: Port, to: int, source: int, out: Array, into: Array) -> Steps[None]:
    send = Sending(port, out, to, RING)
    receive = Receiving(port, into.size, into.dtype, source, RING, into=into)
    while not (send.finished and receive.finished):
        moved = send.step()
        while receive.take() is not None:
            moved = True
        yield moved


def _slowest(comm: Communicator, mine: Sequence[float]) -> tuple[float, ...]:
    """The largest of each number over all ranks."""
    numbers = np.array([mine] * comm.size, np.float64)

    def exchange() -> Steps[None]:
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        own = numbers[comm.rank].copy()
        receives = [comm.irecv(numbers[rank], rank, NUMBERS) for rank in others]
        yield from done(receives + [comm.isend(own, rank, NUMBERS) for rank in others])

    run(exchange())
    return tuple(float(x) for x in numbers.max(axis=0))
