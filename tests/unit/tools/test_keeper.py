import logging
import math
import os

import pytest

from pycaffe_dist import events as e
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.tools.keeper import Keeper

SOLVER = """base_lr: 0.1 lr_policy: "fixed" max_iter: 20 random_seed: 1 snapshot_prefix: "run"
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t"
          dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
          inner_product_param { num_output: 1 } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
}"""


@pytest.fixture
def begin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def begin(last=1, metric="accuracy", resume=None, settings=""):
        solver = Solver(parse_text(SOLVER + settings, SolverParameter()).message)
        solver.subscribers.append(Keeper(solver, last, metric, "best"))
        if resume:
            solver.restore(resume)
        return solver

    return begin


def score(solver, iteration, value, name="accuracy"):
    """A snapshot that is due, and then a test, as the solver's loop has them."""
    solver.iter = iteration
    solver.snapshot()
    solver.tell(e.Tested(iteration, 0, [e.Output(0, name, value)]))


def kept():
    return [snapshot.iteration for snapshot in snapshots.find("run")]


def test_the_best_stays_when_a_run_goes_on(begin):
    first = begin()
    for iteration, value in ((2, 0.5), (4, 0.9), (6, 0.7)):
        score(first, iteration, value)
    assert kept() == [4, 6]
    second = begin(resume="run_iter_6.solverstate")
    score(second, 8, 0.8)
    score(second, 10, 0.6)
    assert kept() == [4, 10]
    score(second, 12, 0.95)
    score(second, 14, 0.1)
    assert kept() == [12, 14]


def test_the_best_stays_when_a_run_goes_on_without_keep_best(begin):
    first = begin()
    score(first, 2, 0.9)
    score(first, 4, 0.7)
    second = begin(metric="", resume="run_iter_4.solverstate")
    score(second, 6, 1.0)
    assert kept() == [2, 6]


def test_another_score_is_compared_with_its_own_kind(begin):
    score(begin(), 2, 0.9)
    second = begin(metric="recall", resume="run_iter_2.solverstate")
    score(second, 4, 0.1, "recall")
    score(second, 6, 0.05, "recall")
    assert kept() == [4, 6]


@pytest.mark.parametrize("settings", ["", " snapshot_format: HDF5"])
def test_the_best_has_a_name(begin, caplog, settings):
    caplog.set_level(logging.INFO, "pycaffe_dist")
    end = ".h5" if settings else ""
    solver = begin(settings=settings)
    score(solver, 2, 0.5)
    score(solver, 4, 0.75)
    score(solver, 6, 0.25)
    assert os.readlink(f"best.caffemodel{end}") == f"run_iter_4.caffemodel{end}"
    line = f"Best so far: accuracy = 0.75 at iteration 4, run_iter_4.caffemodel{end}"
    assert caplog.text.count(line) == 1
    solver.tell(e.SolveEnds(6, False))
    assert caplog.text.count(line) == 2
    begin(settings=settings, resume=f"run_iter_6.solverstate{end}")
    assert caplog.text.count(line) == 3


def test_a_score_before_the_first_iteration_has_no_snapshot(begin):
    solver = begin(last=0)
    solver.tell(e.Tested(0, 0, [e.Output(0, "accuracy", 0.9)]))
    assert kept() == []
    score(solver, 2, 0.5)
    assert not os.path.lexists("best.caffemodel")


def test_what_is_no_number_is_not_the_best(begin):
    solver = begin(metric="loss")
    score(solver, 2, math.nan, "loss")
    score(solver, 4, 3.0, "loss")
    score(solver, 6, math.nan, "loss")
    score(solver, 8, 4.0, "loss")
    assert kept() == [4, 8]


def test_an_output_that_is_not_there(begin):
    with pytest.raises(NetError, match="--keep-best accuracy: the test net puts out loss"):
        score(begin(), 2, 1.0, "loss")
