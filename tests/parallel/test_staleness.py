"""Staleness: never more than the bound, nothing lost, and within a budget."""

import time

import numpy as np
import pytest
from cases import Case, build, identical, plan_for, weights

from pycaffe_dist.events import Event, Updated
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.communicator import Communicator
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.testing.ranks import run_ranks

STEPS = 25


class Run:
    """A rank's training, and what was seen of it."""

    def __init__(self, case: Case, communicator: Communicator, pauses: list[float]) -> None:
        self.solver = build(case, [communicator.rank], communicator.size)
        self.first = weights(self.solver)
        self.sum = [np.zeros(w.shape) for w in self.first]
        self.ahead: list[int] = []
        plan = plan_for(case, self.solver, communicator)
        self.solver.subscribers.append(self._note)
        with distribute(self.solver, case.settings, communicator, plan) as cluster:
            self.ssp = cluster.ssp
            self.solver.on_start.append(lambda: time.sleep(pauses[communicator.rank]))
            begin, sent = time.monotonic(), communicator.sent
            self.solver.step(STEPS)
            self.seconds, self.sent = time.monotonic() - begin, communicator.sent - sent
        self.last = weights(self.solver)

    def _note(self, event: Event) -> None:
        if isinstance(event, Updated):
            self.ahead.append(self.ssp.worst)
            for total, param in zip(self.sum, self.solver.net.params.learnable, strict=True):
                total += param.blob.diff


def runs(settings: ClusterSettings, pauses: list[float]) -> list[Run]:
    case = Case("conv", "SGD", "", settings)
    return run_ranks(len(pauses), lambda communicator: Run(case, communicator, pauses))


@pytest.mark.parametrize("staleness", [1, 3])
def test_a_fast_rank_beside_a_slow_one_keeps_the_bound_in_every_iteration(staleness: int) -> None:
    everybody = runs(ClusterSettings(staleness=staleness), [0.06, 0.0, 0.0])
    for run in everybody:
        assert len(run.ahead) == STEPS
        assert max(run.ahead) <= staleness
    assert max(max(run.ahead) for run in everybody) == staleness  # and it was made use of


@pytest.mark.parametrize("wire", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("bandwidth", [None, 1e6])
def test_every_update_of_every_rank_arrives_once(wire: str, bandwidth: float | None) -> None:
    settings = ClusterSettings(staleness=2, wire=wire, bandwidth=bandwidth)
    everybody = runs(settings, [0.0, 0.005, 0.0])
    assert identical([run.last for run in everybody])
    for i, (before, after) in enumerate(zip(everybody[0].first, everybody[0].last, strict=True)):
        updates = sum(run.sum[i] for run in everybody)
        # In half the bits, what rounding left behind is still in the outbox of each rank.
        close = 1e-5 if wire == "fp32" else 3e-2
        np.testing.assert_allclose(before - after, updates, rtol=close, atol=close * 0.1)


def test_under_a_budget_updates_join_and_fewer_bytes_are_sent() -> None:
    budget = 15_000  # bytes a second
    everybody = runs(ClusterSettings(staleness=3, bandwidth=8 * budget), [0.0, 0.0])
    for run in everybody:
        every_update = STEPS * sum(w.nbytes for w in run.first)
        assert run.sent < 0.7 * every_update
        assert run.sent <= budget * (run.seconds + 0.1) + 2 * every_update / STEPS
        assert max(run.ahead) <= 3


def test_ranks_wait_little_for_slowness_that_moves_around() -> None:
    """Each rank in turn is slow for an iteration; with s = 0 everybody always waits for it."""

    def waited(staleness: int) -> float:
        case = Case("conv", "SGD", "", ClusterSettings(staleness=staleness, comm="allreduce"))

        def work(communicator: Communicator) -> float:
            solver = build(case, [communicator.rank], communicator.size)
            plan = plan_for(case, solver, communicator)
            with distribute(solver, case.settings, communicator, plan) as cluster:
                slow = lambda: solver.iter % 3 == communicator.rank  # noqa: E731
                solver.on_start.append(lambda: time.sleep(0.1 if slow() else 0.0))
                solver.step(12)
                return cluster.recorder.totals().exposed

        return max(run_ranks(3, work))

    assert waited(0) > 0.6  # of the 0.8 seconds in which others are slow
    assert waited(3) < 0.4
