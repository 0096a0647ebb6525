"""What a snapshot says when its files are not, or not all, those that were written together."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver

pytestmark = pytest.mark.host  # the engine has no part in it
NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 4 } shape { dim: 2 dim: 3 }
    data_filler { type: "gaussian" } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one").mkdir()

    def solver(seed=1, net=NET, folder="one"):
        text = (
            f'base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" max_iter: 9 random_seed: {seed} '
            f'snapshot_prefix: "{folder}/run" net_param {{ {net} }}'
        )
        return Solver(parse_text(text, SolverParameter()).message)

    return solver


@pytest.fixture
def written(make):
    """A solver that has written a snapshot."""
    solver = make()
    solver.step(2)
    solver.snapshot()
    return solver


def weights(solver):
    return np.concatenate([p.blob.data.ravel() for p in solver.net.params.learnable])


def warnings(caplog):
    return [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]


def test_a_whole_snapshot_needs_no_words(make, written, caplog):
    make(5).restore("one/run_iter_2.solverstate")
    assert warnings(caplog) == []


def test_a_copied_folder_goes_on_with_its_own_weights(make, written, caplog):
    shutil.copytree("one", "copy")
    other = make(seed=7)
    other.step(2)
    other.snapshot()  # the original is trained anew
    again = make(5, folder="copy")
    again.restore("copy/run_iter_2.solverstate")
    np.testing.assert_array_equal(weights(again), weights(written))
    assert not np.array_equal(weights(again), weights(other))
    (said,) = warnings(caplog)
    assert said == (
        "Weights are taken from copy/run_iter_2.caffemodel, beside the state, and not from "
        "one/run_iter_2.caffemodel, which it names"
    )


def test_a_missing_third_file_is_named(make, written, caplog):
    Path("one/run_iter_2.pcdstate").unlink()
    make(5).restore("one/run_iter_2.solverstate")
    (said,) = warnings(caplog)
    assert said.startswith("one/run_iter_2.pcdstate is not there: data begin at the first record")


def test_weights_of_another_run_are_named(make, written, caplog):
    other = make(seed=7)
    other.step(2)
    Path("two").mkdir()
    other.param.snapshot_prefix = "two/run"
    other.snapshot()
    shutil.copy("two/run_iter_2.caffemodel", "one/run_iter_2.caffemodel")
    make(5).restore("one/run_iter_2.solverstate")
    (said,) = warnings(caplog)
    assert said == (
        "one/run_iter_2.caffemodel: is not the file that one/run_iter_2.pcdstate was written "
        "with, but of another run, or changed since"
    )


def test_a_renamed_layer_is_named(make, written, caplog):
    net = NET.replace('name: "ip"', 'name: "new"') + (
        'layer { name: "ip" type: "InnerProduct" bottom: "ip" top: "unused"'
        "  inner_product_param { num_output: 3 } }"
    )
    first = make(net=net)
    first.step(1)
    first.snapshot()
    again = make(5, net=net.replace('name: "new"', 'name: "newer"'))
    again.restore("one/run_iter_1.solverstate")
    said = [text for text in warnings(caplog) if "history of others" in text]
    assert said == [
        "one/run_iter_1.solverstate: the layers newer, which one/run_iter_1.caffemodel has no "
        "weights for, continue with what it holds in their places: the history of others, if "
        "layers were renamed"
    ]
