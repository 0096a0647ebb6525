"""One of our ranks: the net and the batch of bench/ours.py, alone or with the other ranks."""

from __future__ import annotations

import json
import random
import sys
import time
from contextlib import ExitStack
from typing import Any

import bench.cluster_cases  # noqa: F401  (its nets)
from bench.cluster_wire import obey, own_core, sent
from bench.ours import Ours
from pycaffe_dist.parallel.cluster import Cluster, connect, distribute
from pycaffe_dist.parallel.job.launcher import die_with_parent, rank_and_size, tune_mpi
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.plan.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.threads import set_threads


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


if __name__ == "__main__":
    die_with_parent()
    rank = rank_and_size()[0]
    own_core(rank)
    set_threads(1)
    obey(OurRank(sys.argv[1]), rank)
