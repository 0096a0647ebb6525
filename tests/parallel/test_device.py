"""Ranks on devices of their own step as one with the joint batch, and nobody waits in the host."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

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
    small_cases,
    trained,
    weights,
)

from pycaffe_dist.engines import create
from pycaffe_dist.engines.cupy import CupyEngine
from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel import cluster as cluster_module
from pycaffe_dist.parallel.cluster import Cluster, distribute
from pycaffe_dist.parallel.exchange.device import DeviceParcel
from pycaffe_dist.parallel.exchange.nccl import DeviceWay
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers.loss_scale import START, LossScale
from pycaffe_dist.testing import cupy_standin
from pycaffe_dist.testing.cupy_standin import cuda, runtime
from pycaffe_dist.testing.gpu import emulated
from pycaffe_dist.testing.ranks import run_ranks
from pycaffe_dist.tools.guards import LossGuard, TrainingError

CLOSE = 1e-5
SCHEMES = ("allreduce", "sharded", "sfb", "sf-push")
FEW = 8  # steps


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runtime, "DEVICES", 4)
    with emulated():
        yield


def on_device(case: Case, communicator: Communicator, start: int = 0) -> Solver:
    """A rank's solver, on the device of its number."""
    engine = create("cupy", communicator.rank)
    rank, of = [communicator.rank], communicator.size
    return build(case, rank, of, start=start, engine=engine)


def stepped(case: Case, communicator: Communicator) -> list[np.ndarray]:
    return trained(case, communicator, FEW, create("cupy", communicator.rank))


def with_cluster(
    case: Case, work: Callable[[Solver, Cluster], object], ranks: int = 2
) -> list[object]:
    def rank(communicator: Communicator) -> object:
        solver = on_device(case, communicator)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan) as cluster:
            assert isinstance(cluster.way, DeviceWay)
            assert all(isinstance(parcel, DeviceParcel) for parcel in cluster.parcels)
            return work(solver, cluster)

    return run_ranks(ranks, rank)


# -- equality --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", small_cases(), ids=str)
def test_devices_step_as_one_rank_with_the_joint_batch(case: Case) -> None:
    everybody = run_ranks(2, lambda communicator: stepped(case, communicator))
    assert identical(everybody)
    assert distance(everybody[0], reference(case, 2, FEW)) < CLOSE


@pytest.mark.parametrize("comm", SCHEMES)
def test_an_odd_number_of_ranks_on_two_nodes_steps_alike(comm: str) -> None:
    case = Case("flavours", "Adam", "", ClusterSettings(comm=comm))
    everybody = run_ranks(["a", "b", "b"], lambda communicator: stepped(case, communicator))
    assert identical(everybody)
    assert distance(everybody[0], reference(case, 3, FEW)) < CLOSE


@pytest.mark.parametrize("wire", ["fp16", "bf16"])
@pytest.mark.parametrize("comm", SCHEMES)
def test_half_the_bits_on_the_wire_keep_ranks_identical_and_near(wire: str, comm: str) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm=comm, wire=wire))
    everybody = run_ranks(3, lambda communicator: stepped(case, communicator))
    assert identical(everybody)
    far = distance(everybody[0], reference(case, 3, FEW))
    assert 1e-6 < far < (0.005 if wire == "fp16" else 0.04)


def test_updates_can_be_summed() -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm="allreduce", sum_updates=True))
    here = run_ranks(2, lambda communicator: trained(case, communicator, FEW))
    there = with_cluster(case, lambda solver, _: solver.step(FEW) or weights(solver))
    assert distance(there[0], here[0]) < CLOSE  # type: ignore[arg-type]


def test_batch_norm_over_all_ranks_is_that_of_the_joint_batch() -> None:
    case = Case("norm", "SGD", "", ClusterSettings(sync_bn=True))
    everybody = run_ranks(2, lambda communicator: stepped(case, communicator))
    assert identical(everybody)
    assert distance(everybody[0], reference(case, 2, FEW)) < CLOSE
    by_hosts = Case("norm", "SGD", "", ClusterSettings(sync_bn=True, nccl=False))
    same = run_ranks(2, lambda communicator: stepped(by_hosts, communicator))
    assert distance(same[0], everybody[0]) < CLOSE


# -- the step --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["fp32", "fp16"])
@pytest.mark.parametrize(
    ("comm", "extra"),
    [(c, extra) for c in SCHEMES for extra in ("", "iter_size: 2 average_loss: 3")]
    + [(c, "clip_gradients: 0.1") for c in ("allreduce", "sfb")],  # the others update before
)
def test_between_two_displays_nobody_waits_and_no_memory_is_asked_for(
    comm: str, extra: str, wire: str
) -> None:
    case = Case("conv", "Adam", f"display: 100 {extra}", ClusterSettings(comm=comm, wire=wire))
    counts, both = cupy_standin.COUNTS, threading.Barrier(2)

    def work(solver: Solver, cluster: Cluster) -> dict[str, int]:
        solver.step(3)
        both.wait()
        counts.clear()
        both.wait()
        solver.step(4)
        both.wait()
        seen = dict(counts)
        both.wait()
        return seen

    found = with_cluster(case, work)[0]
    assert isinstance(found, dict)
    for name in ("synchronise", "to_host", "malloc"):
        assert found.get(name, 0) == 0, (name, found)
    assert found["nccl"] >= 2 * 4 * 2


def test_gradients_leave_while_layers_below_still_compute() -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm_layer={"ip2": "sfb", "ip1": "sharded"}))

    def work(solver: Solver, cluster: Cluster) -> list[int]:
        solver.step(1)
        assert isinstance(cluster.way, DeviceWay)
        log, net = cluster.way.nccl.stream.log, solver.net
        log.clear()
        exchanged: dict[str, int] = {}
        solver.net.after_backward.append(
            lambda i: exchanged.setdefault(net.layer_names[i], len(log))
        )
        solver.step(1)
        return [exchanged[name] for name in ("loss", "ip2", "relu2", "ip1", "conv1")]

    for loss, ip2, relu2, ip1, conv1 in with_cluster(case, work):  # type: ignore[misc]
        assert loss < ip2 == relu2 < ip1 < conv1
        assert loss == 1, "the loss itself"


def test_a_forward_that_did_not_wait_for_its_exchange_would_race(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that the silence of the tests above is known to mean something."""
    monkeypatch.setattr(DeviceParcel, "finish", lambda self: None)
    case = Case("conv", "SGD", "", ClusterSettings(comm="allreduce"))
    with pytest.raises(cupy_standin.RaceError):
        with_cluster(case, lambda solver, _: solver.step(2))


def test_gradients_that_are_not_wanted_are_waited_for_all_the_same() -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm="allreduce"))

    def work(solver: Solver, cluster: Cluster) -> list[np.ndarray]:
        solver.step(2)
        before = weights(solver)
        solver.on_gradients_ready.append(solver.stepper.discard_update)
        solver.step(1)
        solver.on_gradients_ready.clear()
        assert identical([before, weights(solver)])
        solver.step(1)
        return weights(solver)

    everybody = with_cluster(case, work)
    assert identical(everybody)  # type: ignore[arg-type]


def test_losses_of_all_ranks_are_averaged_on_the_device() -> None:
    case = Case("conv", "SGD", "")

    def work(solver: Solver, cluster: Cluster) -> tuple[float, list[float]]:
        solver.step(3)
        return float(solver.last_loss), solver.stepper.losses()

    joint = build(case, range(2), 2)
    joint.step(3)
    for loss, losses in with_cluster(case, work):  # type: ignore[misc]
        assert loss == pytest.approx(joint.last_loss, rel=1e-5)
        assert loss == pytest.approx(np.mean(losses))
        assert losses[0] != losses[1]


def test_times_are_those_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "get_elapsed_time", lambda begin, end: 250.0)
    case = Case("conv", "SGD", "", ClusterSettings(comm="allreduce"))

    def work(solver: Solver, cluster: Cluster) -> tuple[float, float, int]:
        solver.step(1)
        cluster.recorder.zero()
        solver.step(2)
        totals = cluster.recorder.totals()
        return totals.busy, totals.exposed, 2 * len(cluster.parcels)

    for busy, exposed, exchanges in with_cluster(case, work):  # type: ignore[misc]
        assert busy == exposed == 0.25 * exchanges


def test_what_was_sent_is_counted() -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm="sharded"))

    def work(solver: Solver, cluster: Cluster) -> list[int]:
        before = cluster.recorder.totals().sent
        solver.step(1)
        plan = sum(entry.bytes for entry in cluster.plan.entries)
        return [cluster.recorder.totals().sent - before, plan]

    for sent, plan in with_cluster(case, work):  # type: ignore[misc]
        assert plan <= sent < 1.1 * plan + 100  # shards are filled up, losses come on top


def test_on_the_device_an_exchange_starts_before_the_layer_below_ends() -> None:
    """By the streams' clocks: what the start of an exchange waits for is its layer's backward."""
    layers = {"ip2": "sfb", "ip1": "sf-push", "conv2": "sharded", "conv1": "allreduce"}
    case = Case("conv", "SGD", "", ClusterSettings(comm_layer=layers))

    def work(solver: Solver, cluster: Cluster) -> tuple[list[int], list[int]]:
        engine, net = solver.context.engine, solver.net
        assert isinstance(engine, CupyEngine)
        stream = engine.home.compute
        solver.step(1)
        ends: dict[str, int] = {}
        net.after_backward.append(
            lambda i: ends.setdefault(net.layer_names[i], stream.clock[stream.number])
        )
        solver.step(1)
        parcels = {parcel.name: parcel for parcel in cluster.parcels}
        assert set(layers) <= set(parcels)
        starts = [parcels[name]._pending._begun.clock[stream.number] for name in layers]  # type: ignore[attr-defined]
        return starts, [ends[name] for name in layers]

    for starts, ends in with_cluster(case, work):  # type: ignore[misc]
        for start, end, below in zip(starts, ends, [*ends[1:], ends[-1] + 1], strict=True):
            assert end <= start < below


# -- losses that are no numbers --------------------------------------------------------------------


def spoilt(solver: Solver, rank: int, at: int) -> None:
    """Rank 1's batch of iteration ``at`` is NaN."""

    def spoil(layer: int) -> None:
        if rank == 1 and layer == 0 and solver.iter == at:
            solver.net.blobs[0].data[...] = np.nan

    solver.net.before_forward.append(spoil)


@pytest.mark.parametrize(
    ("comm", "extra"), [*((c, "") for c in SCHEMES), ("sfb", "clip_gradients: 100")]
)
def test_a_bad_loss_does_not_reach_the_weights_though_nobody_looks_yet(
    comm: str, extra: str
) -> None:
    case = Case("conv", "Adam", f"display: 6 {extra}", ClusterSettings(comm=comm))

    def work(solver: Solver, cluster: Cluster) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
        spoilt(solver, cluster.rank, at=3)
        LossGuard(solver, "stop", lambda text: None)
        solver.step(3)
        before = weights(solver)
        with pytest.raises(TrainingError) as error:
            solver.step(9)
        assert solver.iter == 6, "the first display after it"
        return str(error.value), before, weights(solver)

    found = with_cluster(case, work)
    for words, before, after in found:  # type: ignore[misc]
        assert identical([before, after]), "of the rank"
        assert words.startswith("iteration 3: the loss of rank 1")
    assert "is nan; first seen in a batch that is gone" in found[0][0]  # type: ignore[index]
    assert identical([found[0][2], found[1][2]])  # type: ignore[index]


@pytest.mark.parametrize("guard", ["continue", ""])
def test_who_asks_for_it_trains_on_with_a_bad_loss(guard: str) -> None:
    case = Case("conv", "SGD", "display: 100", ClusterSettings(comm="sharded"))

    def work(solver: Solver, cluster: Cluster) -> bool:
        spoilt(solver, cluster.rank, at=1)
        if guard:
            LossGuard(solver, guard, lambda text: None)
        solver.step(3)
        return all(np.isnan(w).any() for w in weights(solver))

    assert with_cluster(case, work) == [True, True]


# -- products in fp16 ------------------------------------------------------------------------------


@pytest.mark.parametrize("comm", ["allreduce", "sfb"])
def test_ranks_leave_out_the_same_steps(comm: str) -> None:
    """Where the gradient of one of them overflows; else fp16 is as near as it can be."""
    case = Case("conv", "SGD", "display: 100", ClusterSettings(comm=comm))

    def rank(communicator: Communicator) -> tuple[list[list[np.ndarray]], list[tuple[float, ...]]]:
        engine = create("cupy", communicator.rank).at("fp16")
        solver = build(case, [communicator.rank], communicator.size, engine=engine)

        def spoil(layer: int) -> None:
            if (
                communicator.rank == 1
                and solver.iter == 2
                and solver.net.layer_names[layer] == "ip1"
            ):
                diff = solver.net.tops[layer][0].blob.diff_value.write(engine.home)
                diff[:1] = 65520 * 2  # of what is multiplied by the scale already

        solver.net.before_backward.append(spoil)
        with distribute(solver, case.settings, communicator, plan_for(case, solver, communicator)):
            seen, states = [], []
            for _ in range(4):
                solver.step(1)
                seen.append(weights(solver))
                assert isinstance(solver.loss_scale, LossScale)
                states.append(solver.loss_scale.state)
            return seen, states

    (ours, states), (theirs, same) = run_ranks(2, rank)
    assert states == same == [(START, 1, 0), (START, 2, 0), (START / 2, 0, 1), (START / 2, 1, 1)]
    assert all(identical([a, b]) for a, b in zip(ours, theirs, strict=True))
    assert identical([ours[1], ours[2]]) and not identical([ours[2], ours[3]])
    assert 1e-6 < distance(ours[1], reference(case, 2, 2)) < 2e-3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"comm": "sharded"}, "--comm sharded is not possible: with fp16 a step is left out"),
        ({"comm": "topk"}, "--comm topk keeps what it has not sent"),
        ({"wire": "fp16"}, "use --wire bf16"),
        ({"staleness": 1}, "--staleness is not possible: with fp16"),
    ],
)
def test_what_would_hide_an_overflow_is_refused(settings: dict[str, str], words: str) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(**settings))  # type: ignore[arg-type]

    def rank(communicator: Communicator) -> None:
        solver = build(case, [communicator.rank], 2, engine=create("cupy").at("fp16"))
        plan_for(case, solver, communicator)

    with pytest.raises(NetError, match=words):
        run_ranks(2, rank)


# -- what else crosses between devices -------------------------------------------------------------


def test_running_statistics_become_their_means_on_the_device() -> None:
    case = Case("norm", "SGD", "display: 100", ClusterSettings())

    def statistics(solver: Solver) -> list[np.ndarray]:
        return [blob.data.copy() for blob in solver.net.layers[2].blobs]

    def work(solver: Solver, cluster: Cluster) -> list[list[np.ndarray]]:
        assert solver.net.layer_names[2] == "bn"
        solver.stepper.settle()  # before anybody has passed there is nothing to merge
        solver.step(2)
        merged = statistics(solver)
        own = [merged]
        solver.net.forward()
        own.append(statistics(solver))
        both.wait()
        cupy_standin.COUNTS.clear()
        both.wait()
        solver.stepper.settle()
        both.wait()
        waited = {name: cupy_standin.COUNTS.get(name, 0) for name in ("synchronise", "to_host")}
        both.wait()
        assert not any(waited.values()), waited
        own.append(statistics(solver))
        solver.stepper.settle()
        return [*own, statistics(solver)]

    both = threading.Barrier(2)
    (step_0, own_0, mean_0, again_0), (step_1, own_1, mean_1, _) = with_cluster(case, work)  # type: ignore[misc]
    assert identical([step_0, step_1]) and identical([mean_0, mean_1])
    assert not identical([own_0, own_1])
    assert identical([mean_0, again_0]), "once after a pass"
    assert distance(mean_0, [(a + b) / 2 for a, b in zip(own_0, own_1, strict=True)]) < 1e-7


def test_weights_and_history_of_rank_0_go_from_device_to_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm="allreduce"))
    monkeypatch.setattr(cluster_module, "broadcast", None)  # the hosts' way

    def rank(communicator: Communicator) -> list[np.ndarray]:
        solver = on_device(case, communicator)
        for param in solver.net.params.learnable:
            param.blob.data[...] += communicator.rank
        for blob in solver.history:
            blob.data[...] = communicator.rank + 1
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            return [*weights(solver), *(blob.data.copy() for blob in solver.history)]

    everybody = run_ranks(2, rank)
    assert identical(everybody)
    assert all((history == 1).all() for history in everybody[1][len(everybody[1]) // 2 :])


# -- snapshots -------------------------------------------------------------------------------------


@pytest.mark.parametrize("comm", SCHEMES)
def test_a_snapshot_goes_on_to_the_bit_and_on_one_rank(comm: str, tmp_path: Path) -> None:
    case = Case("conv", "Adam", "", ClusterSettings(comm=comm))
    prefix, half = str(tmp_path / "half"), STEPS // 2
    state = f"{prefix}_iter_{half}.solverstate"

    def whole(solver: Solver, cluster: Cluster) -> list[np.ndarray]:
        solver.param.snapshot_prefix = prefix
        solver.step(half)
        solver.snapshot()
        solver.step(STEPS - half)
        return weights(solver)

    def rest(communicator: Communicator) -> list[np.ndarray]:
        solver = on_device(case, communicator, start=half)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            solver.restore(state if communicator.rank == 0 else "not here")
            solver.step(STEPS - half)
        return weights(solver)

    straight = with_cluster(case, whole)
    assert identical([*straight, *run_ranks(2, rest)])  # type: ignore[list-item]
    alone = build(case, [0, 1], 2, start=half)
    solo = SoloCommunicator()
    with distribute(alone, case.settings, solo, plan_for(case, alone, solo)):
        alone.restore(state)
        alone.step(STEPS - half)
    assert distance(weights(alone), straight[0]) < CLOSE  # type: ignore[arg-type]
