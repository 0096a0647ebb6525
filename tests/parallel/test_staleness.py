"""Staleness: never more than the bound, nothing lost, and within a budget."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from cases import SOLVERS, Case, build, distance, identical, plan_for, weights

from pycaffe_dist.events import Event, Updated
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.observe.trace import Traffic
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.testing.ranks import run_ranks

STEPS = 25


class Run:
    """A rank's training, and what was seen of it."""

    def __init__(self, case: Case, communicator: Communicator, pauses: list[float]) -> None:
        self.solver = build(case, [communicator.rank], communicator.size)
        # Who makes others' updates of their factors takes the decay from weights of its own.
        self.solver.param.weight_decay = 0
        self.first = weights(self.solver)
        self.sum = [np.zeros(w.shape) for w in self.first]
        self.ahead: list[int] = []
        plan = plan_for(case, self.solver, communicator)
        self.solver.subscribers.append(self._note)
        with distribute(self.solver, case.settings, communicator, plan) as cluster:
            self.ssp = cluster.stepper
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


def runs(
    settings: ClusterSettings, pauses: list[float], hosts: str = "", case: Case | None = None
) -> list[Run]:
    """Ranks that pause before every iteration; on hosts of their own, or named with a letter."""
    case = replace(case or Case("conv", "SGD", ""), settings=settings)
    names = hosts or len(pauses)
    return run_ranks(names, lambda communicator: Run(case, communicator, pauses))


def test_nothing_is_under_way_when_ranks_part() -> None:
    """What is received after that would be written to memory that is free by then."""

    def work(communicator: Communicator) -> list[int]:
        case = Case("conv", "SGD", "", settings=ClusterSettings(staleness=1))
        Run(case, communicator, [0.0, 0.0, 0.0])
        return communicator.awaited()

    assert run_ranks(3, work) == [[], [], []]


@pytest.mark.parametrize("staleness", [1, 3])
def test_a_fast_rank_beside_a_slow_one_keeps_the_bound_in_every_iteration(staleness: int) -> None:
    everybody = runs(ClusterSettings(staleness=staleness), [0.06, 0.0, 0.0])
    for run in everybody:
        assert len(run.ahead) == STEPS
        assert max(run.ahead) <= staleness
    assert max(max(run.ahead) for run in everybody) == staleness  # and it was made use of


def check_sum(everybody: list[Run], close: float = 1e-5) -> None:
    """All ranks have the same weights, and every update of every rank is in them once."""
    assert identical([run.last for run in everybody])
    for i, (before, after) in enumerate(zip(everybody[0].first, everybody[0].last, strict=True)):
        updates = sum(run.sum[i] for run in everybody)
        np.testing.assert_allclose(before - after, updates, rtol=close, atol=close * 0.1)


@pytest.mark.parametrize("comm", ["dense", "sfb"])
@pytest.mark.parametrize("wire", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("bandwidth", [None, 1e6])
def test_every_update_of_every_rank_arrives_once(
    comm: str, wire: str, bandwidth: float | None
) -> None:
    settings = ClusterSettings(comm=comm, staleness=2, wire=wire, bandwidth=bandwidth)
    # In half the bits, what rounding left behind is still in the outbox of each rank.
    check_sum(runs(settings, [0.0, 0.005, 0.0]), 1e-5 if wire == "fp32" else 3e-2)


@pytest.mark.parametrize("comm", ["dense", "sfb"])
@pytest.mark.parametrize("hosts", ["aabb", "aaabc", "aaa", "abab", "abcde"])
def test_updates_go_by_leaders_and_hubs(comm: str, hosts: str) -> None:
    pauses = [0.002 * (i % 3) for i in range(len(hosts))]
    check_sum(runs(ClusterSettings(comm=comm, staleness=1), pauses, hosts))


@pytest.mark.parametrize("hosts", ["aabb", "abc", "aaabc"])
def test_a_node_sends_what_the_plan_says(hosts: str) -> None:
    """However many ranks it has: updates once to the hub and, as a hub, once to each other node."""

    def run(communicator: Communicator) -> tuple[int, int]:
        case = Case("lenet", "SGD", "", ClusterSettings(comm="dense", staleness=1))
        solver = build(case, [communicator.rank], communicator.size)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            sent = []
            # The end of each is the same; updates of one step cannot be sent as one.
            for steps in (1, 9):
                before = communicator.sent_out
                solver.step(steps)
                sent.append(communicator.sent_out - before)
            return sent[1] - sent[0], 8 * plan.bytes

    sent, planned = zip(*run_ranks(list(hosts), run), strict=True)
    nodes = len(set(hosts))
    assert sum(sent) <= 1.05 * nodes * planned[0]
    assert sum(sent) > 0.5 * nodes * planned[0]  # those who lag behind send several as one


@pytest.mark.parametrize(
    ("net", "solver", "extra"),
    [
        ("flavours", "Nesterov", ""),
        ("conv", "SGD", "iter_size: 3"),
        ("conv", "SGD", "clip_gradients: 0.5"),
        ("conv", "SGD", 'lr_policy: "step" stepsize: 7 gamma: 0.5'),
    ],
)
def test_factors_make_the_others_updates(net: str, solver: str, extra: str) -> None:
    settings = ClusterSettings(comm="sfb", staleness=2)
    check_sum(runs(settings, [0.0, 0.004, 0.002], case=Case(net, solver, extra)))


@pytest.mark.parametrize("comm", ["dense", "sfb"])
@pytest.mark.parametrize("kind", SOLVERS)
def test_ranks_that_lag_behind_in_nothing_train_as_one(kind: str, comm: str) -> None:
    """With a linear rule as one rank with the joint batch; else, if all have one batch, with it."""
    case = Case("conv", kind, "", ClusterSettings(comm=comm, staleness=1))
    linear = kind in ("SGD", "Nesterov")
    together = threading.Barrier(3)

    def work(communicator: Communicator) -> list[np.ndarray]:
        solver = build(case, [communicator.rank if linear else 0], 3)
        solver.param.weight_decay = 0
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:

            def wait_for_all() -> None:
                together.wait(30)
                while cluster.stepper.ahead(cluster.stepper.items):
                    time.sleep(1e-3)

            def update_together(layer: int) -> None:
                if layer == 0:
                    together.wait(30)

            solver.on_start.append(wait_for_all)
            solver.net.after_backward.append(update_together)
            solver.step(STEPS)
        return weights(solver)

    one = build(case, range(3) if linear else [0], 3)
    one.param.weight_decay = 0
    one.step(STEPS)
    ranks = run_ranks(3, work)
    assert identical(ranks)
    assert distance(ranks[0], weights(one)) < 1e-5


def test_bytes_are_counted_by_layer_and_scheme() -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm="sfb", staleness=1))

    def work(communicator: Communicator) -> dict[tuple[str, str], Traffic]:
        solver = build(case, [communicator.rank], communicator.size)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:
            solver.step(STEPS)
            return cluster.recorder.traffic

    one, other = run_ranks(2, work)
    header, rows = 8 * 4, 4 * 4  # a message's first words; bytes of a column of the batch
    for name, width in (("ip1", 13 + 36), ("ip2", 7 + 13)):
        mine, others = one[name, "sfb"], other[name, "sfb"]
        assert mine.exchanges == STEPS
        assert mine.sent == STEPS * (rows * width + header)
        assert others.received == STEPS * rows * width
    assert one["conv1+conv2", "updates"].sent > 0


def test_under_a_budget_updates_join_and_fewer_bytes_are_sent() -> None:
    budget = 15_000  # bytes a second
    everybody = runs(ClusterSettings(staleness=3, bandwidth=8 * budget), [0.0, 0.0])
    for run in everybody:
        every_update = STEPS * sum(w.nbytes for w in run.first)
        assert run.sent < 0.7 * every_update
        assert run.sent <= budget * (run.seconds + 0.1) + 2 * every_update / STEPS
        assert max(run.ahead) <= 3


def test_nobody_waits_for_slowness_that_moves_around() -> None:
    """Each rank in turn takes so long for an iteration that all others begin the next one."""
    case = Case("conv", "SGD", "", ClusterSettings(staleness=3, comm="allreduce"))
    at, turns = [0] * 3, [0] * 3

    def work(communicator: Communicator) -> None:
        solver = build(case, [communicator.rank], communicator.size)

        def begin() -> None:
            me, now = communicator.rank, solver.iter
            at[me] = now
            if now % 3 == me and now < 9:
                end = time.monotonic() + 30
                while sum(other > now for other in at) < 2:
                    assert time.monotonic() < end, f"{at}: rank {me} is waited for"
                    time.sleep(1e-3)
                turns[me] += 1

        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            solver.on_start.append(begin)
            solver.step(12)

    run_ranks(3, work)
    assert turns == [3, 3, 3]
