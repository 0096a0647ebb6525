"""A rank on every host tells what is there, and measures the links between all pairs of hosts.

    python -m pycaffe_dist.parallel.job.checkup      (started by `pcd doctor`, through mpirun)

Pairs that have no host in common are measured at the same time; n hosts take n - 1 rounds, or n.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version

import numpy as np

from pycaffe_dist.aliases import Facts
from pycaffe_dist.parallel.cluster import connect
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.failure import all_or_none
from pycaffe_dist.parallel.job.launcher import die_with_parent, rank_and_size, tune_mpi
from pycaffe_dist.parallel.plan.links import measure_rank, time_ring
from pycaffe_dist.parallel.transport.collectives import gather_objects
from pycaffe_dist.parallel.transport.communicator import Communicator, Steps, done, run
from pycaffe_dist.parallel.transport.tags import NUMBERS
from pycaffe_dist.threads import cores
from pycaffe_dist.version import VERSION

PINGS, SMALL = 20, 1
BYTES, TRIALS = 1 << 22, 3
TOLD = ("numpy", "protobuf", "mpi4py")


def main() -> int:
    rank, _ = rank_and_size()
    with all_or_none(rank):
        die_with_parent()
        lifeline.say(lifeline.START, f"{rank} {os.getpid()}")
        tune_mpi()
        communicator = connect()
        found = examine(communicator)
        if rank == 0:
            lifeline.say(lifeline.EVENT, json.dumps(found))
            lifeline.say(lifeline.END, "done 0")
        return 0


def examine(communicator: Communicator) -> Facts:
    """Facts of all ranks and links of all pairs, on rank 0."""
    ahead = clock_ahead(communicator)
    links = [
        [*pair, *_link(communicator, pair)] for pair in _my_pairs(communicator) if pair is not None
    ]
    mine = {**facts(), "host": communicator.nodes.host(communicator.rank), "clock": ahead}
    all_ranks = run(gather_objects(communicator, [mine, links]))
    return {
        "ranks": [facts_of for facts_of, _ in all_ranks],
        "links": [link for _, links_of in all_ranks for link in links_of],
    }


def facts() -> Facts:
    """What this host is."""
    flops, memory_bandwidth = measure_rank()
    pages, free = (os.sysconf(f"SC_{name}_PAGES") for name in ("PHYS", "AVPHYS"))
    size = os.sysconf("SC_PAGE_SIZE")
    return {
        "python": platform.python_version(),
        "pycaffe_dist": VERSION,
        **{name: version(name) for name in TOLD},
        "cores": cores(),
        "memory": pages * size,
        "free": free * size,
        "disk": shutil.disk_usage(".").free,
        "flops": flops,
        "memory_bandwidth": memory_bandwidth,
    }


def rounds(count: int) -> Iterator[list[tuple[int, int]]]:
    """Every pair of ``count`` once, those of a round disjoint: one stays, the others go round."""
    seats = list(range(count + count % 2))
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        pairs = zip(seats[:half], reversed(seats[half:]), strict=True)
        yield [(min(p), max(p)) for p in pairs if max(p) < count]
        seats[1:] = [seats[-1], *seats[1:-1]]


def _my_pairs(communicator: Communicator) -> Iterator[tuple[int, int] | None]:
    """In each round the pair that this rank is of; all begin a round together."""
    for pairs in rounds(communicator.size):
        run(gather_objects(communicator, None))
        yield next((pair for pair in pairs if communicator.rank in pair), None)


def _link(communicator: Communicator, pair: tuple[int, int]) -> list[float]:
    """Seconds of a small message, and bytes a second with both sending at once."""
    alpha = time_ring(communicator, pair, SMALL, PINGS)[0]
    seconds = time_ring(communicator, pair, BYTES, TRIALS)[0]
    return [alpha, BYTES / max(seconds - alpha, 1e-9)]


def clock_ahead(communicator: Communicator) -> float:
    """By how many seconds this rank's clock is ahead of rank 0's.

    Of several questions the one that was answered fastest counts: rank 0's time is taken for that
    of the middle between question and answer.
    """
    if communicator.rank == 0:
        for rank in range(1, communicator.size):
            run(_answer(communicator, rank))
        return 0.0
    return run(_ask(communicator))


def _answer(communicator: Communicator, rank: int) -> Steps[None]:
    number = np.zeros(1)
    for _ in range(PINGS):
        yield from done([communicator.irecv(number, rank, NUMBERS)])
        now = np.array([time.time()])
        yield from done([communicator.isend(now, rank, NUMBERS)])


def _ask(communicator: Communicator) -> Steps[float]:
    tries = []
    theirs = np.zeros(1)
    for _ in range(PINGS):
        begin = time.time()
        question = communicator.isend(np.zeros(1), 0, NUMBERS)
        yield from done([question, communicator.irecv(theirs, 0, NUMBERS)])
        end = time.time()
        tries.append((end - begin, (begin + end) / 2 - float(theirs[0])))
    return min(tries)[1]


if __name__ == "__main__":
    sys.exit(main())
