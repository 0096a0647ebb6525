"""topk: equal to an all-reduce where everything is sent; nothing is lost where it is not."""

from pathlib import Path

import numpy as np
import pytest
from cases import STEPS, Case, build, distance, identical, plan_for, trained, weights

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.schemes.topk import TopkParcel, kept, largest
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing.ranks import run_ranks

HALF = STEPS // 2


def topk(fraction: float, **settings: object) -> ClusterSettings:
    return ClusterSettings(comm="topk", options={"topk-fraction": fraction}, **settings)  # type: ignore[arg-type]


# -- what is chosen --------------------------------------------------------------------------------


def test_the_largest_magnitudes_are_found_in_order_and_the_first_of_equal_ones() -> None:
    values = np.array([1.0, -5, 2, 5, -2, 0])
    assert largest(values, 2).tolist() == [1, 3]
    assert largest(values, 3).tolist() == [1, 2, 3]
    assert largest(values, 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert largest(np.zeros(4), 2).tolist() == [0, 1]
    assert largest(np.array([1.0, np.nan, -np.inf, 2]), 2).tolist() == [1, 2]
    assert (kept(1000, 0.01), kept(5, 0.01), kept(7, 1.0), kept(3, 0.5)) == (10, 1, 7, 2)


# -- equality --------------------------------------------------------------------------------------


@pytest.mark.parametrize("hosts", [["a", "b"], ["a", "a"]], ids=str)
@pytest.mark.parametrize("extra", ["", "iter_size: 3", "clip_gradients: 0.5"])
def test_two_ranks_that_send_all_do_what_an_allreduce_does(extra: str, hosts: list[str]) -> None:
    everything = Case("conv", "Adam", extra, topk(1.0))
    dense = Case("conv", "Adam", extra, ClusterSettings(comm="allreduce"))
    results = [
        run_ranks(hosts, lambda c, case=case: trained(case, c)) for case in (everything, dense)
    ]
    assert identical([*results[0], *results[1]])


@pytest.mark.parametrize("hosts", [["a", "b", "b"], ["a", "b", "c", "a"]], ids=str)
def test_several_ranks_that_send_all_differ_from_it_by_rounding(hosts: list[str]) -> None:
    everything = Case("shared", "SGD", "", topk(1.0))
    dense = Case("shared", "SGD", "", ClusterSettings(comm="allreduce"))
    ours = run_ranks(hosts, lambda c: trained(everything, c))
    assert identical(ours)
    assert distance(ours[0], run_ranks(hosts, lambda c: trained(dense, c))[0]) < 1e-5


@pytest.mark.parametrize("wire", ["fp16", "bf16"])
def test_ranks_stay_identical_with_fewer_bits_on_the_wire(wire: str) -> None:
    case = Case("conv", "SGD", "", topk(0.3, wire=wire))
    assert identical(run_ranks(["a", "b", "b"], lambda c: trained(case, c)))


# -- error feedback --------------------------------------------------------------------------------


Seen = list[tuple[np.ndarray, np.ndarray]]


def exchanged(settings: ClusterSettings, gradients: np.ndarray, steps: int) -> list[Seen]:
    """By rank and step: the joint gradient and the residual, with gradients that stay the same."""
    case, ranks = Case("conv", "SGD", "", settings), len(gradients)

    def work(communicator: Communicator) -> Seen:
        solver = build(case, [communicator.rank], ranks)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:
            (parcel,) = [p for p in cluster.parcels if p.count == gradients.shape[1]]
            assert isinstance(parcel, TopkParcel)
            seen = []
            for _ in range(steps):
                diffs = [param.blob.diff.reshape(-1) for param in parcel.learnable]
                mine = parcel.pieces(gradients[communicator.rank])
                for diff, g in zip(diffs, mine, strict=True):
                    diff[...] = g
                parcel.begin(cluster.thread, solver.next_step())
                assert parcel.job is not None
                cluster.thread.wait(parcel.job)
                parcel.job = None
                parcel.finish()
                seen.append((np.concatenate(diffs), parcel.residual.copy()))
            return seen

    return run_ranks(["a", "a", "b"][:ranks], work)


def values_of_the_only_parcel() -> int:
    return sum(p.blob.count for p in build(Case("conv"), [0], 1).net.params.learnable)


def test_the_largest_goes_and_the_rest_waits_its_turn() -> None:
    """k = 1 of (3, 2, 0, ...): 3 goes; 2 + 2; 3 + 3; 2 + 2; and so on, exactly."""
    gradients = np.zeros((2, values_of_the_only_parcel()), np.float32)
    gradients[:, 5], gradients[:, 9] = 3, -2
    for seen in exchanged(topk(1e-9), gradients, 5):
        joint = [[(i, g[i]) for i in np.flatnonzero(g)] for g, _ in seen]
        assert joint == [[(5, 3)], [(9, -4)], [(5, 6)], [(9, -4)], [(5, 6)]]
        kept_back = [(e[5], e[9]) for _, e in seen]
        assert kept_back == [(0, -2), (3, 0), (0, -2), (3, 0), (0, -2)]


@pytest.mark.parametrize("wire", ["fp32", "bf16"])
def test_what_is_sent_and_what_is_kept_back_are_the_gradients(wire: str) -> None:
    """Σ sent = Σ g − Σ e, whatever is chosen and however it is rounded on the wire."""
    steps, ranks, count = 12, 3, values_of_the_only_parcel()
    gradients = np.random.default_rng(1).standard_normal((ranks, count)).astype(np.float32)
    everybody = exchanged(topk(0.2, wire=wire), gradients, steps)
    sent = ranks * sum(g.astype(np.float64) for g, _ in everybody[0])
    left = sum(seen[-1][1].astype(np.float64) for seen in everybody)
    assert np.allclose(sent, steps * gradients.sum(0, dtype=np.float64) - left, atol=1e-4)
    assert np.abs(left).max() > 1
    for seen in everybody:
        for (mine, _), (first, _) in zip(seen, everybody[0], strict=True):
            assert (mine == first).all()
            assert 0 < np.count_nonzero(mine) <= ranks * kept(count, 0.2)


def test_a_discarded_step_leaves_the_residual_as_it_was() -> None:
    case = Case("conv", "SGD", "", topk(0.1))

    def work(communicator: Communicator) -> None:
        solver = build(case, [communicator.rank], 2)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:
            solver.step(2)
            before = [parcel.own_values().copy() for parcel in cluster.parcels]
            solver.on_gradients_ready.append(solver.stepper.discard_update)
            solver.step(1)
            after = [parcel.own_values() for parcel in cluster.parcels]
            assert before and all((a == b).all() for a, b in zip(before, after, strict=True))

    run_ranks(2, work)


def test_training_converges_where_a_twentieth_is_sent() -> None:
    """The loss falls about as far as where everything is sent."""
    losses = {}
    for fraction in (1.0, 0.05):
        case = Case("conv", "SGD", "", topk(fraction))

        def work(communicator: Communicator, case: Case = case) -> list[float]:
            solver = build(case, [communicator.rank], 2)
            plan = plan_for(case, solver, communicator)
            seen: list[float] = []
            solver.on_gradients_ready.append(lambda: seen.append(float(solver.last_loss)))
            with distribute(solver, case.settings, communicator, plan):
                solver.step(3 * STEPS)
            return seen

        losses[fraction] = run_ranks(2, work)[0]
    first, last = np.mean(losses[0.05][:5]), np.mean(losses[0.05][-5:])
    assert last < 0.9 * first
    assert last < 1.3 * np.mean(losses[1.0][-5:])


# -- snapshots -------------------------------------------------------------------------------------


def resumed(case: Case, communicator: Communicator, state: str) -> tuple[Solver, list[np.ndarray]]:
    solver = build(case, [communicator.rank], communicator.size, start=HALF)
    plan = plan_for(case, solver, communicator)
    with distribute(solver, case.settings, communicator, plan) as cluster:
        solver.restore(state if communicator.rank == 0 else "not here")
        residuals = [
            parcel.own_values().copy()
            for parcel in cluster.parcels
            if parcel.own_values() is not None
        ]
        solver.step(STEPS - HALF)
    return solver, residuals


@pytest.fixture
def snapshot(tmp_path: Path) -> tuple[str, list[list[np.ndarray]], list[list[np.ndarray]]]:
    """The state file at half time; weights at the end; residuals at half time, by rank."""
    case = Case("conv", "Adam", "", topk(0.1))

    def work(communicator: Communicator) -> tuple[list[np.ndarray], list[np.ndarray]]:
        solver = build(case, [communicator.rank], communicator.size, str(tmp_path / "half"))
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:
            solver.step(HALF)
            solver.snapshot()
            residuals = [parcel.own_values().copy() for parcel in cluster.parcels]
            solver.step(STEPS - HALF)
        return weights(solver), residuals

    ends, residuals = zip(*run_ranks(["a", "b"], work), strict=True)
    return f"{tmp_path}/half_iter_{HALF}.solverstate", list(ends), list(residuals)


def test_the_same_number_of_ranks_resumes_to_the_bit(snapshot) -> None:  # type: ignore[no-untyped-def]
    state, ends, _ = snapshot
    case = Case("conv", "Adam", "", topk(0.1))
    again = run_ranks(["a", "b"], lambda c: weights(resumed(case, c, state)[0]))
    assert identical([*ends, *again])
    with np.load(state.replace(".solverstate", ".pcdstate")) as stored:
        assert {"own/0", "1:own/0"} <= set(stored)


def test_another_number_of_ranks_shares_the_sum(snapshot) -> None:  # type: ignore[no-untyped-def]
    state, _, residuals = snapshot
    case = Case("conv", "Adam", "", topk(0.1))
    found = run_ranks(3, lambda c: resumed(case, c, state)[1])
    mean = [(a + b) / 2 for a, b in zip(*residuals, strict=True)]
    for rank in found:
        flat, expected = np.concatenate(rank), np.concatenate(mean)
        assert np.allclose(np.sort(flat), np.sort(expected), atol=1e-6)


def test_where_nothing_has_residuals_they_are_lost_with_a_word(
    snapshot, caplog: pytest.LogCaptureFixture
) -> None:  # type: ignore[no-untyped-def]
    state, _, _ = snapshot
    case, solo = Case("conv", "Adam", "", topk(0.1)), SoloCommunicator()
    resumed(case, solo, state)  # one rank sends nothing, so it keeps nothing back
    alone = build(case, [0], 1)
    alone.restore(state)
    assert sum("what was not sent" in record.getMessage() for record in caplog.records) == 2


# -- asking for it ---------------------------------------------------------------------------------


def test_it_is_never_chosen_and_never_stale() -> None:
    solver = build(Case("conv"), [0], 2)

    class Two:
        size = 2

        class nodes:
            count = 2

    plan = plan_for(Case("conv", settings=ClusterSettings()), solver, Two())  # type: ignore[arg-type]
    assert "topk" not in {entry.scheme for entry in plan.entries}
    asked = plan_for(Case("conv", settings=topk(0.1)), solver, Two())  # type: ignore[arg-type]
    assert {(entry.scheme, entry.reason) for entry in asked.entries} >= {("topk", "asked for")}
    with pytest.raises(NetError, match="--comm topk is not possible with --staleness"):
        plan_for(Case("conv", settings=topk(0.1, staleness=1)), solver, Two())  # type: ignore[arg-type]
