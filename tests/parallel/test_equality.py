"""P ranks with batch K take the same steps as one rank with batch P·K, whatever the scheme."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from cases import (
    Case,
    build,
    distance,
    equality_cases,
    identical,
    plan_for,
    reference,
    trained,
    weights,
)
from equality_ranks import compared

from pycaffe_dist.engines import create
from pycaffe_dist.parallel.cluster import distribute
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.parallel.transport.solo import SoloCommunicator
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing.mpi_ranks import MpiRanks
from pycaffe_dist.testing.ranks import run_ranks

CLOSE = 1e-5


@pytest.mark.timeout(400)  # all cases in one start of MPI
@pytest.mark.parametrize("hosts", [["a", "b"], ["a", "a", "b"], ["a", "a", "b", "b"]], ids=len)
def test_ranks_of_mpirun_step_as_one_with_the_joint_batch(
    mpi_ranks: MpiRanks, hosts: list[str]
) -> None:
    """LeNet, whose parameters are large, takes most of the time: it is for four ranks, and rules
    with one history and with two; the others cut small parameters into many pieces.
    """
    large = ("SGD", "Adam") if len(hosts) == 4 else ()
    cases = [c for c in equality_cases() if c.net != "lenet" or c.solver in large]
    found = mpi_ranks.run(hosts, partial(compared, cases, False), 300)[0]
    assert [name for _, _, name in found] == [str(case) for case in cases]
    assert not [result for result in found if result[0] > CLOSE or not result[1]]


@pytest.mark.parametrize("case", equality_cases(), ids=str)
def test_a_rank_alone_on_the_same_path_steps_as_it_would_without(case: Case) -> None:
    assert distance(trained(case, SoloCommunicator()), reference(case, 1)) < CLOSE


@pytest.mark.parametrize("hosts", [3, ["a", "a"], ["a", "b", "a", "b"]], ids=str)
@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_ranks_spread_over_nodes_in_any_way_step_alike(
    hosts: int | Sequence[str], comm: str
) -> None:
    case = Case("flavours", "Adam", "", ClusterSettings(comm=comm))
    ranks = hosts if isinstance(hosts, int) else len(hosts)
    everybody = run_ranks(hosts, lambda communicator: trained(case, communicator))
    assert identical(everybody)
    assert distance(everybody[0], reference(case, ranks)) < CLOSE


@pytest.mark.parametrize("wire", ["fp16", "bf16"])
@pytest.mark.parametrize("comm", ["allreduce", "sharded", "sfb", "sf-push"])
def test_half_the_bits_on_the_wire_keep_ranks_identical_and_near(wire: str, comm: str) -> None:
    case = Case("conv", "SGD", "", ClusterSettings(comm=comm, wire=wire))
    everybody = run_ranks(["a", "b", "b"], lambda communicator: trained(case, communicator))
    assert identical(everybody)
    far = distance(everybody[0], reference(case, 3))
    assert 1e-6 < far < (0.01 if wire == "fp16" else 0.06)


def test_updates_can_be_summed_instead_of_averaged() -> None:
    summed = Case("conv", "SGD", "", ClusterSettings(comm="allreduce", sum_updates=True))
    everybody = run_ranks(2, lambda communicator: trained(summed, communicator))
    # Twice the gradient is what twice the rate and half the decay would make of the mean.
    import cases

    twice = Case("conv", "SGD", "", ClusterSettings())
    solver = cases.build(twice, range(2), 2)
    for param in solver.net.params.learnable:
        param.lr_mult, param.decay_mult = 2 * param.lr_mult, param.decay_mult / 2
    solver.step(cases.STEPS)
    assert distance(everybody[0], cases.weights(solver)) < CLOSE


def test_batch_norm_over_all_ranks_is_that_of_the_joint_batch() -> None:
    case = Case("norm", "SGD", "", ClusterSettings(sync_bn=True))
    everybody = run_ranks(["a", "a", "b"], lambda communicator: trained(case, communicator))
    assert identical(everybody)
    assert distance(everybody[0], reference(case, 3)) < CLOSE


@pytest.mark.parametrize("engine", ["numpy", "onednn"])
def test_batch_norm_over_all_ranks_after_a_forward_pass_alone(engine: str) -> None:
    """What the engine prepared in that pass was for one rank."""
    case = Case("norm", "SGD", "", ClusterSettings(sync_bn=True))
    used = create(engine)

    def tried(ranks: Sequence[int], of: int) -> Solver:
        solver = build(case, ranks, of, engine=used)
        before = weights(solver)
        solver.net.forward()
        for param, values in zip(solver.net.params.learnable, before, strict=True):
            param.blob.data[...] = values
        return solver

    def train(communicator: Communicator) -> list[np.ndarray]:
        solver = tried([communicator.rank], communicator.size)
        plan = plan_for(case, solver, communicator)
        with distribute(solver, case.settings, communicator, plan):
            solver.step(3)
        return weights(solver)

    everybody = run_ranks(2, train)
    alone = tried(range(2), 2)
    alone.step(3)
    assert identical(everybody)
    assert distance(everybody[0], weights(alone)) < CLOSE


@pytest.mark.parametrize("net", ["norm", "dense"])
def test_running_statistics_of_each_rank_are_merged_in_the_end(net: str) -> None:
    case = Case(net, "SGD", "", ClusterSettings())
    everybody = run_ranks(2, lambda communicator: trained(case, communicator))
    assert identical(everybody)
    assert distance(everybody[0], reference(case, 2)) > CLOSE
