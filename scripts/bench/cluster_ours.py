"""One of our ranks: the net and the batch of bench/ours.py, alone or with the other ranks."""

from __future__ import annotations

import json
import random
import statistics
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any

import numpy as np

import bench.cluster_cases  # noqa: F401  (its nets)
from bench.cluster_wire import obey, own_core, sent
from bench.ours import Ours
from pycaffe_dist.parallel.cluster import Cluster, connect, distribute
from pycaffe_dist.parallel.job.launcher import die_with_parent, rank_and_size, tune_mpi
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.plan.links import TRIALS, measure_links, measure_rank, time_ring
from pycaffe_dist.parallel.plan.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.threads import set_threads

HANDLED = 1 << 23  # bytes sent to find what each of them costs


class OurRank(Ours):
    def __init__(self, engine: str) -> None:
        super().__init__(engine)
        tune_mpi()
        self.communicator = connect()
        self.plans: dict[str, Plan] = {}  # by settings: each is made once, as in a long run

    def prepare(self, **what: Any) -> dict[str, Any]:
        answer = super().prepare(**what)
        self.stamps: list[tuple[float, float]] = []
        self.recorder = Recorder(self.communicator.rank)
        assert self.solver is not None
        self.solver.net.before_forward.append(self._before_layer)
        return answer

    def turn(
        self,
        settings: dict[str, Any] | None,
        warm_up: int,
        steps: int,
        slow: float = 1.0,
        normal: float = 0.0,
        away: float = 0.0,
        trace: bool = False,
    ) -> dict[str, Any]:
        """Train for ``warm_up + steps`` iterations, of which the last ``steps`` are reported.

        Args:
            settings: of ClusterSettings; None for a rank that does not communicate.
            warm_up: iterations before those that are reported.
            steps: iterations that are reported.
            slow: how many times as long the rank takes that is drawn for an iteration.
            normal: seconds that an iteration computes.
            away: seconds that it sleeps besides.
            trace: report every span.
        """
        solver = self.solver
        assert solver is not None
        self.recorder = Recorder(self.communicator.rank, keep=trace)
        self._draws, self._away = random.Random(1), away
        self._pause = (slow - 1) * (normal + away)
        about: dict[str, Any] = {}
        with ExitStack() as stack:
            if settings is not None:
                key, asked = json.dumps(settings), ClusterSettings(**settings)
                ranks = distribute(
                    solver, asked, self.communicator, self.plans.get(key), self.recorder
                )
                cluster = stack.enter_context(ranks)
                self.plans[key] = cluster.plan
                about["plan"] = [
                    [list(entry.params), entry.scheme, entry.bytes]
                    for entry in cluster.plan.entries
                ]
            if trace:
                self.recorder.watch(solver.net)
            self.stamps.clear()
            before = self._sent()
            # One more: an iteration ends, for its last layers, in the forward of the next.
            solver.step(warm_up + steps + 1)
            bytes_of_step = (self._sent() - before) / len(self.stamps)
        begin, end = self.stamps[warm_up], self.stamps[warm_up + steps]
        about |= {
            "seconds": [
                b[0] - a[0]
                for a, b in zip(self.stamps[warm_up:], self.stamps[warm_up + 1 :], strict=False)
            ],
            "sent": bytes_of_step * steps,
            "waited": end[1] - begin[1],
        }
        if trace:
            about["report"] = self.recorder.report(f"rank {self.communicator.rank}")
        return about

    # -- for bench_cluster.py --predict ------------------------------------------------------

    def one(self, steps: int) -> dict[str, float]:
        """What a rank does while the others do nothing: a step, products, copies."""
        assert self.solver is not None
        iteration = self.solver.iter
        seconds = self.turn(None, 1, steps)["seconds"]
        self.solver.iter = iteration  # ranks are equally far when they train together
        flops, memory = measure_rank()
        return {"step": statistics.median(seconds), "flops": flops, "memory": memory}

    def links(self) -> dict[str, float]:
        """The test of links with which training begins, and what a byte costs who computes."""
        between = measure_links(self.communicator).between
        handling = handling_beside(self.communicator)
        return {"alpha": between.alpha, "beta": between.beta, "handling": handling}

    def _before_layer(self, layer: int) -> None:
        assert self.solver is not None
        if layer == 0:
            self.stamps.append((time.perf_counter(), self.recorder.totals().exposed))
            self.data.data_value.write()  # as if the batch had just been read
        # Not before forward has all its weights: who computes slowly cannot do so while it waits.
        if layer == len(self.solver.net.layers) - 1:
            drawn = self._draws.randrange(self.communicator.size) == self._rank
            time.sleep(self._away + (self._pause if drawn else 0.0))

    def _sent(self) -> int:
        """Bytes that have left this node, when all ranks have what was sent to them."""
        assert self.solver is not None
        ranks = self.solver.ranks
        if isinstance(ranks, Cluster):
            ranks.gather(None)
            ranks.share(None)
        return sent()

    @property
    def _rank(self) -> int:
        return self.communicator.rank


def handling_beside(comm: Communicator) -> float:
    """Seconds of the processor for a byte sent and received, while another thread computes.

    That thread's products share the core and its caches, as layers do: the same copies take half
    as long again as on a core that does nothing else.
    """
    a, b = np.ones((64, 512), np.float32), np.ones((512, 512), np.float32)
    out, over = np.empty((64, 512), np.float32), threading.Event()

    def compute() -> None:
        while not over.is_set():
            np.matmul(a, b, out=out)

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        busy = time_ring(comm, comm.nodes.leaders, HANDLED, TRIALS)[1]
    finally:
        over.set()
        thread.join()
    return busy / HANDLED


if __name__ == "__main__":
    die_with_parent()
    rank = rank_and_size()[0]
    own_core(rank)
    set_threads(1)
    obey(OurRank(sys.argv[1]), rank)
