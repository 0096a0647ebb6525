import platform

import numpy as np
import pytest

from pycaffe_dist.parallel import agreement
from pycaffe_dist.parallel.agreement import (
    Checksum,
    DisagreementError,
    agree,
    checksums,
    facts,
)
from pycaffe_dist.parallel.communicator import run
from pycaffe_dist.parallel.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing.ranks import run_ranks

SOLVER = """
base_lr: 0.01 lr_policy: "fixed" random_seed: 1
net_param {
  layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
    inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
}
"""


@pytest.fixture
def solver():
    return Solver(parse_text(SOLVER, SolverParameter()).message)


def compared(facts_of_ranks):
    """What the ranks say of each other, or nothing."""

    def work(communicator):
        try:
            run(agree(communicator, facts_of_ranks[communicator.rank], "Mend it."))
        except DisagreementError as e:
            return str(e)
        return ""

    (said,) = set(run_ranks(len(facts_of_ranks), work))
    return said


def test_ranks_that_are_the_same_go_on():
    assert compared([{"the iteration": 3}] * 3) == ""


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_the_odd_one_out_is_named_even_if_it_is_rank_0(odd):
    ranks = [{"the engine": "numpy", "the plan": Checksum(1)}] * 3
    ranks[odd] = {"the engine": "onednn", "the plan": Checksum(2)}
    other = 1 if odd == 0 else 0
    assert compared(ranks).splitlines() == [
        f"rank {odd} on host{odd} differs from rank {other} in the engine: onednn, "
        f"rank {other} has numpy",
        f"rank {odd} on host{odd} differs from rank {other} in the plan",
        "Mend it.",
    ]


def test_of_two_rank_0_is_believed_and_many_differences_are_counted():
    names = [f"layer {i}" for i in range(12)]
    lines = compared([dict.fromkeys(names, 1), dict.fromkeys(names, 2)]).splitlines()
    assert lines[0] == "rank 1 on host1 differs from rank 0 in layer 0: 2, rank 0 has 1"
    assert lines[-2:] == ["... and 4 more", "Mend it."]


def test_what_is_compared_before_the_first_step(solver, monkeypatch):
    plan = Plan((), 1, 1, "paper", "fp32", 1.0, 1.0)
    before = facts(solver, ClusterSettings(), plan)
    assert before["the engine"] == solver.context.engine.name
    assert before == facts(solver, ClusterSettings(trace="mine.json"), plan)
    solver.net.layers[1].layer_param.inner_product_param.num_output = 5
    solver.param.base_lr = 0.5
    monkeypatch.setattr(agreement, "_code", lambda: 1)
    monkeypatch.setattr(agreement, "_blas", lambda: "another")
    after = facts(solver, ClusterSettings(staleness=1), plan)
    assert {name for name in after if after[name] != before[name]} == {
        "the code of pycaffe_dist",
        "the BLAS of NumPy",
        "base_lr of the solver",
        "--staleness",
        'layer "ip"',
    }


def test_versions_of_python_are_told_apart_and_patches_are_not(solver, monkeypatch):
    plan = Plan((), 1, 1, "paper", "fp32", 1.0, 1.0)

    def version(*parts):
        monkeypatch.setattr(platform, "python_version_tuple", lambda: parts)
        return facts(solver, ClusterSettings(), plan)["the version of Python"]

    assert version("3", "10", "2") == version("3", "10", "9") == "3.10"
    assert version("3", "12", "2") == "3.12"


def test_test_nets_are_compared_too():
    plan = Plan((), 1, 1, "paper", "fp32", 1.0, 1.0)
    text = SOLVER.replace("net_param {", "test_iter: 1 test_interval: 1 net_param {")
    ranks = []
    for size in (2, 5):
        solver = Solver(parse_text(text, SolverParameter()).message)
        solver.test_nets[0].layers[0].layer_param.input_param.shape[0].dim[0] = size
        ranks.append(facts(solver, ClusterSettings(), plan))
    assert compared(ranks).splitlines() == [
        'rank 1 on host1 differs from rank 0 in input_param.shape.dim of layer "x" of test net #0: '
        "5, 3, rank 0 has 2, 3",
        "Mend it.",
    ]


def test_a_layer_that_differs_is_told_with_its_fields(solver):
    plan = Plan((), 1, 1, "paper", "fp32", 1.0, 1.0)
    before = facts(solver, ClusterSettings(), plan)
    layer = solver.net.layers[1].layer_param
    layer.inner_product_param.num_output = 5
    layer.param.add(lr_mult=2)
    layer.param.add(lr_mult=0)
    after = facts(solver, ClusterSettings(), plan)
    after['layer "new"'] = after.pop('layer "x"')
    assert compared([before, after]).splitlines() == [
        'rank 1 on host1 differs from rank 0 in layer "x": nothing, rank 0 has one',
        'rank 1 on host1 differs from rank 0 in inner_product_param.num_output of layer "ip": 5, '
        "rank 0 has 4",
        'rank 1 on host1 differs from rank 0 in param.lr_mult of layer "ip": 2.0, 0.0, rank 0 '
        "has nothing",
        'rank 1 on host1 differs from rank 0 in layer "new": one, rank 0 has nothing',
        "Mend it.",
    ]


def test_checksums_tell_one_bit(solver):
    before = checksums(solver)
    weights = solver.net.params.learnable[0].blob.data
    weights[0, 0] = np.nextafter(weights[0, 0], np.float32(9))
    after = checksums(solver)
    assert [name for name in after if after[name] != before[name]] == [
        'parameter 0 of layer "ip" at iteration 0'
    ]
