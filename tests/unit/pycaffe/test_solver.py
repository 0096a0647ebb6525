"""Solvers of scripts; under mpirun ranks that do not train together are told so."""

import pytest

import pycaffe_dist as caffe
from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.job.launcher import VARIABLES
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.testing.ranks import run_ranks

SOLVER = """base_lr: 0.1 lr_policy: "fixed" max_iter: 2 snapshot_after_train: false
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t"
          dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
          inner_product_param { num_output: 1 } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
}"""


@pytest.fixture
def solver(tmp_path, monkeypatch):
    """A solver of a script that mpirun has started as one of two ranks."""
    (tmp_path / "solver.prototxt").write_text(SOLVER)

    def solver(rank=0, ranks=2):
        for name, value in zip(VARIABLES[0], (rank, ranks), strict=True):
            monkeypatch.setenv(name, str(value))
        return caffe.SGDSolver(str(tmp_path / "solver.prototxt"))

    return solver


def test_strangers_are_told_once(solver, caplog):
    alone = solver()
    assert "each trains a net of its own" not in caplog.text
    alone.step(1)
    alone.step(1)
    alone.solve()
    assert caplog.text.count("mpirun started 2 ranks of this script") == 1
    assert "add the line caffe.distribute(solver)" in caplog.text


@pytest.mark.parametrize(("rank", "ranks"), [(1, 2), (0, 1)])
def test_others_say_nothing(solver, caplog, rank, ranks):
    solver(rank, ranks).step(1)
    assert "mpirun" not in caplog.text


def test_a_script_with_its_own_exchange_is_no_stranger(solver, caplog):
    own = solver()
    own.add_callback(lambda: None, lambda: None)
    own.step(1)
    assert "mpirun" not in caplog.text


def test_ranks_that_were_joined_are_no_strangers(solver, caplog):
    from pycaffe_dist.parallel.cluster import distribute

    def rank(communicator):
        own = solver()
        with distribute(own.core, ClusterSettings(comm="dense"), communicator):
            own.step(2)
        return own.iter

    assert run_ranks(2, rank) == [2, 2]
    assert "mpirun" not in caplog.text


@pytest.mark.parametrize("name", ["net", "test_nets"])
def test_the_nets_of_a_solver_cannot_be_replaced(solver, name):
    with pytest.raises(AttributeError):
        setattr(solver(ranks=1), name, [])


def test_a_solver_tells_its_iteration_and_its_rate(solver):
    one = solver(0, 1)
    assert (one.iter, one.lr, one.param.max_iter) == (0, pytest.approx(0.1), 2)
    one.step(1)
    assert one.iter == 1


def test_an_update_by_hand_is_a_step(solver):
    one, two = solver(0, 1), solver(0, 1)
    for net in (one.net, two.net):
        net.params["ip"][0].data[...] = 0.5
        net.params["ip"][1].data[...] = 1
    one.step(1)
    two.net.clear_param_diffs()
    two.net.forward()
    two.net.backward()
    two.apply_update()
    assert one.net.params["ip"][1].data[0] == two.net.params["ip"][1].data[0] != 1


def test_a_net_that_shares_weights_sees_what_is_learned(solver, tmp_path):
    one = solver(0, 1)
    (tmp_path / "test.prototxt").write_text(SOLVER.split("net_param {", 1)[1].rstrip("}"))
    other = caffe.Net(str(tmp_path / "test.prototxt"), caffe.TEST)
    one.share_weights(other)
    one.net.params["ip"][1].data[...] = 3
    assert other.params["ip"][1].data[0] == 3
    one.step(1)
    assert other.params["ip"][1].data[0] == one.net.params["ip"][1].data[0] != 3


def test_a_callback_is_two_functions(solver):
    with pytest.raises(PcdError, match="add_callback takes two functions, or an NCCL"):
        solver(0, 1).add_callback(print)
