"""Snapshots, tests, losses, requests and agreement of several ranks."""

import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from cases import (
    STEPS,
    Case,
    build,
    distance,
    identical,
    plan_for,
    reference,
    trained,
    weights,
)

from pycaffe_dist import events
from pycaffe_dist.events import Displayed, Event, Updated
from pycaffe_dist.layer import Context
from pycaffe_dist.parallel.agreement import DisagreementError
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Action, Solver
from pycaffe_dist.testing.ranks import run_ranks

HALF = STEPS // 2


# -- snapshots -------------------------------------------------------------------------------------


def snapshot_of(case: Case, hosts: list[str], folder: Path) -> str:
    """Train half of the steps on ranks of ``hosts``; the state file of the snapshot."""
    prefix = str(folder / "half")

    def work(communicator: Communicator) -> None:
        solver = build(case, [communicator.rank], communicator.size, prefix)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            solver.step(HALF)
            solver.snapshot()
            solver.step(2)  # history goes on where it was

    run_ranks(hosts, work)
    return f"{prefix}_iter_{HALF}.solverstate"


def resumed(case: Case, communicator: Communicator, ranks: list[int], state: str) -> Solver:
    solver = build(case, ranks, 2, start=HALF)
    plan = plan_for(case, solver, communicator)
    with distribute(solver, case.settings, communicator, plan):
        # A rank on another machine may not see the file.
        solver.restore(state if communicator.rank == 0 else "not here")
        assert solver.iter == HALF
        solver.step(STEPS - HALF)
    return solver


@pytest.mark.parametrize("hosts", [["a", "b"], ["a", "a"]], ids=str)
@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_a_snapshot_goes_on_to_the_bit_and_on_another_number_of_ranks(
    comm: str, hosts: list[str], tmp_path: Path
) -> None:
    case = Case("conv", "Adam", "", ClusterSettings(comm=comm))
    whole = run_ranks(hosts, lambda communicator: trained(case, communicator))
    state = snapshot_of(case, hosts, tmp_path)
    again = run_ranks(hosts, lambda c: weights(resumed(case, c, [c.rank], state)))
    assert identical([*whole, *again])
    alone = weights(resumed(case, SoloCommunicator(), [0, 1], state))
    assert distance(alone, whole[0]) < 1e-5


def test_history_is_kept_in_shards(tmp_path: Path) -> None:
    case = Case("conv", "Adam", "", ClusterSettings(comm="sharded"))

    def work(communicator: Communicator) -> tuple[int, int]:
        solver = build(case, [communicator.rank], communicator.size)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:
            solver.step(3)
            kept = sum(h.size for parcel in cluster.parcels for h in parcel.history.values())
            whole = sum(0 if b.data_value.is_zero else b.count for b in solver.history)
        return kept, whole

    total = sum(b.count for b in build(case, [0], 1).history)
    kept, whole = zip(*run_ranks(["a", "b", "b", "a"], work), strict=True)
    assert sum(kept) == total
    assert max(kept) < 0.27 * total
    assert whole == (0, 0, 0, 0)


@pytest.mark.parametrize("comm", ["dense", "sfb"])
def test_a_snapshot_under_staleness_goes_on(comm: str, tmp_path: Path) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(staleness=2, comm=comm))
    state = snapshot_of(case, ["a", "b"], tmp_path)
    again = run_ranks(2, lambda c: weights(resumed(case, c, [c.rank], state)))
    assert identical(again)


def test_what_ranks_remember_is_kept_for_each_of_them(tmp_path: Path) -> None:
    with_noise = Case("conv", "SGD", "")
    state = snapshot_of(with_noise, ["a", "b"], tmp_path)
    with np.load(state.replace(".solverstate", ".pcdstate")) as stored:
        assert {"rng", "1:rng"} <= set(stored)


# -- tests, losses, requests -----------------------------------------------------------------------


def test_divided_tests_give_what_one_rank_gives(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with h5py.File(tmp_path / "test.h5", "w") as file:
        file["data"] = rng.standard_normal((35, 6)).astype(np.float32)
        file["label"] = rng.integers(0, 3, 35).astype(np.float32)
    (tmp_path / "list.txt").write_text(str(tmp_path / "test.h5"))
    text = f"""
    base_lr: 0.1 lr_policy: "fixed" max_iter: 2 test_interval: 1 test_iter: 7 random_seed: 1
    snapshot_after_train: false test_compute_loss: true
    net_param {{
      layer {{ name: "d" type: "HDF5Data" top: "data" top: "label"
        hdf5_data_param {{ source: "{tmp_path / "list.txt"}" batch_size: 5 }} }}
      layer {{ name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
        inner_product_param {{ num_output: 3 weight_filler {{ type: "xavier" }} }} }}
      layer {{ name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy"
        include {{ phase: TEST }} }}
      layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }}
    }}"""
    lock = threading.Lock()

    def work(communicator: Communicator, trains: bool = False) -> list[events.Tested]:
        with lock:  # fillers draw from the random numbers of the process
            param = parse_text(text, SolverParameter()).message
            solver = Solver(param, Context(rank=communicator.rank, ranks=communicator.size))
        seen: list[Event] = []
        solver.subscribers.append(seen.append)
        plan = plan_for(Case(), solver, communicator)
        with distribute(solver, ClusterSettings(), communicator, plan):
            solver.test_all()
            solver.test_all()
        return [event for event in seen if isinstance(event, events.Tested)]

    (alone,) = run_ranks(1, work)
    for ranks in (2, 3, 9):
        for tested in run_ranks(ranks, work):
            for mine, his in zip(tested, alone, strict=True):
                assert [o.name for o in mine.outputs] == [o.name for o in his.outputs]
                got = [o.value for o in mine.outputs] + [mine.loss]
                np.testing.assert_allclose(got, [o.value for o in his.outputs] + [his.loss], 1e-5)


def test_every_rank_sees_the_mean_loss_of_all() -> None:
    case = Case("conv", "SGD", "display: 1")

    def losses(solver: Solver) -> list[float]:
        seen: list[float] = []

        def note(event: Event) -> None:
            if isinstance(event, Updated):
                seen.append(event.loss)
            elif isinstance(event, Displayed):
                seen.append(event.outputs[0].value)

        solver.subscribers.append(note)
        return seen

    def work(communicator: Communicator) -> list[float]:
        solver = build(case, [communicator.rank], communicator.size)
        seen = losses(solver)
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            solver.step(5)
        return seen

    joint = build(case, range(3), 3)
    expected = losses(joint)
    joint.step(5)
    for seen in run_ranks(3, work):
        np.testing.assert_allclose(seen, expected, rtol=1e-5)


@pytest.mark.parametrize("wire", ["fp32", "fp16"])
@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_an_update_of_a_loss_that_is_no_number_can_be_discarded(comm: str, wire: str) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm=comm, wire=wire))

    def work(communicator: Communicator) -> None:
        solver = build(case, [communicator.rank], communicator.size)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            solver.step(2)
            before = weights(solver)

            def spoil(layer: int) -> None:
                if layer == 0 and communicator.rank == 1:
                    solver.net.blobs[0].data[...] = float("nan")

            solver.net.before_forward.append(spoil)
            solver.on_gradients_ready.append(solver.stepper.discard_update)
            solver.step(1)
            assert np.isnan(float(solver.last_loss))
            assert identical([before, weights(solver)])
            # Who goes on all the same gets the update.
            solver.on_gradients_ready.clear()
            solver.step(1)
            assert np.isnan(weights(solver)[-1]).any()

    run_ranks(["a", "a", "b"], work)


@pytest.mark.parametrize("hosts", ["abc", "aabb"])
@pytest.mark.parametrize("staleness", [0, 2])
def test_a_request_to_one_rank_stops_all_at_the_same_iteration(staleness: int, hosts: str) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(staleness=staleness))

    def work(communicator: Communicator) -> tuple[int, bool]:
        solver = build(case, [communicator.rank], communicator.size)
        stops = communicator.rank == 1
        solver.requested_action = lambda: Action.STOP if stops and solver.iter == 4 else Action.NONE
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            solver.step(STEPS)
        return solver.iter, solver.stopped_early

    end = 5 if not staleness else 4 + staleness + 2
    assert run_ranks(list(hosts), work) == [(end, True)] * len(hosts)


@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb"])
def test_a_budget_of_bandwidth_slows_a_synchronous_run_and_changes_nothing_else(comm: str) -> None:
    budget = 20_000  # bytes a second and node
    case = Case("conv", "SGD", "", ClusterSettings(comm=comm, bandwidth=8 * budget))
    hosts = ["a", "a", "b"]

    def work(communicator: Communicator) -> tuple[list[np.ndarray], float, int]:
        solver = build(case, [communicator.rank], communicator.size)
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            begin, sent = time.monotonic(), communicator.sent_out
            solver.step(6)
            return weights(solver), time.monotonic() - begin, communicator.sent_out - sent

    everybody = run_ranks(hosts, work)
    assert distance(everybody[0][0], reference(case, 3, 6)) < 1e-5
    for _, seconds, sent in everybody:
        # Besides: a burst, one send that leaves a debt, and losses, which have no budget.
        assert sent <= budget * seconds + 3000
    # The second rank of a node leaves speaking to its leader, but for losses.
    assert everybody[1][2] < 2000 < everybody[0][2]


def test_a_net_that_is_used_between_steps_sends_nothing() -> None:
    case = Case("conv", "SGD", "")

    def work(communicator: Communicator) -> int:
        solver = build(case, [communicator.rank], communicator.size)
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            solver.step(2)
            before = communicator.sent
            if communicator.rank == 0:
                solver.net.forward()
                solver.net.backward()
            return communicator.sent - before

    assert run_ranks(2, work)[0] == 0


# -- agreement -------------------------------------------------------------------------------------


def test_ranks_that_differ_are_named_with_what_differs() -> None:
    def work(communicator: Communicator) -> str:
        case = Case("conv", "SGD", "" if communicator.rank != 1 else "gamma: 0.8")
        solver = build(case, [communicator.rank], communicator.size)
        if communicator.rank == 2:
            solver.net.layers[4].layer_param.inner_product_param.axis = 2
        plan = plan_for(Case(), solver, communicator)
        with (
            pytest.raises(DisagreementError) as raised,
            distribute(solver, case.settings, communicator, plan),
        ):
            pass
        return str(raised.value)

    texts = run_ranks(["a", "b", "c"], work)
    assert texts == [texts[0]] * 3
    assert "rank 1 on b differs from rank 0 in gamma of the solver: 0.8, rank 0 has" in texts[0]
    assert 'in inner_product_param.axis of layer "ip1": 2, rank 0 has nothing' in texts[0]
    assert "rank 0 on" not in texts[0]


def test_all_start_from_the_weights_of_rank_0() -> None:
    case = Case("conv", "SGD", "")

    def work(communicator: Communicator) -> list[np.ndarray]:
        solver = build(case, [communicator.rank], communicator.size)
        if communicator.rank:
            for param in solver.net.params.learnable:
                param.blob.data[...] = 99
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            solver.step(3)
        return weights(solver)

    assert distance(run_ranks(2, work)[1], reference(case, 2, 3)) < 1e-5


def test_an_error_of_a_rank_leaves_the_context_at_once() -> None:
    class Crash(Exception):
        pass

    def work(communicator: Communicator) -> bool:
        case = Case()
        solver = build(case, [communicator.rank], communicator.size)
        with (
            pytest.raises(Crash),
            distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)),
        ):
            solver.step(2)
            raise Crash
        return True

    assert run_ranks(2, work) == [True, True]
