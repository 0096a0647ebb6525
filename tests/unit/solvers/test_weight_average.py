"""Averages of weights: against their formula, in files, and when a run goes on."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.events import Updated
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import read_weights
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots

NET = """net_param {
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 }
    data_filler { type: "constant" value: 1 } data_filler { type: "constant" value: 1 } } }
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "s" type: "Silence" bottom: "bn" }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" } }
base_lr: 0.1 lr_policy: "fixed" random_seed: 1 snapshot_prefix: "s" max_iter: 9
snapshot_after_train: false
"""


@pytest.fixture
def solver(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(more="ema_decay: 0.75"):
        return Solver(parse_text(f"{NET} {more}", SolverParameter()).message)

    return make


def weights(solver):
    return solver.net.layers[solver.net.layer_names.index("ip")].blobs[0].data.copy()


def stored(path):
    return {layer.name: [b.data for b in layer.blobs] for layer in read_weights(path).layers}


@pytest.mark.parametrize("end", ["", ".h5"])
def test_the_formula_and_the_file(solver, end):
    run = solver(f"ema_decay: 0.75 {'snapshot_format: HDF5' if end else ''}")
    seen = []
    note = lambda event: seen.append(weights(run)) if isinstance(event, Updated) else None  # noqa: E731
    run.subscribers.append(note)
    run.step(4)
    run.snapshot()
    expected = seen[0]
    for w in seen[1:]:
        expected = 0.75 * expected + 0.25 * w
    found = stored(f"s_iter_4.ema.caffemodel{end}")
    np.testing.assert_allclose(found["ip"][0].reshape(expected.shape), expected, rtol=1e-6)
    assert abs(expected - weights(run)).max() > 1e-3
    # The weights themselves, and what is not learned, are not averaged.
    own = stored(f"s_iter_4.caffemodel{end}")
    np.testing.assert_array_equal(own["ip"][0].reshape(expected.shape), weights(run))
    np.testing.assert_array_equal(found["bn"][2], own["bn"][2])


def test_a_run_that_goes_on_has_the_same_averages(solver):
    straight = solver()
    straight.step(5)
    straight.snapshot()
    expected = stored("s_iter_5.ema.caffemodel")["ip"][0].copy()
    first = solver()
    first.step(3)
    first.snapshot()
    second = solver()
    second.restore("s_iter_3.solverstate")
    second.step(2)
    second.snapshot()
    np.testing.assert_array_equal(stored("s_iter_5.ema.caffemodel")["ip"][0], expected)


def test_without_their_file_averages_begin_with_the_weights(solver):
    run = solver("")
    run.step(2)
    run.snapshot()
    begun = solver()
    begun.restore("s_iter_2.solverstate")
    before = weights(begun)
    begun.step(1)
    begun.snapshot()
    expected = 0.75 * before + 0.25 * weights(begun)
    found = stored("s_iter_3.ema.caffemodel")["ip"][0]
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-6)


def test_averages_go_with_their_snapshot(solver, tmp_path):
    run = solver()
    run.step(1)
    run.snapshot()
    assert (tmp_path / "s_iter_1.ema.caffemodel").exists()
    snapshots.remove(snapshots.find("s")[0])
    assert not list(tmp_path.glob("s_iter_1*"))


@pytest.mark.parametrize("decay", [-0.5, 1])
def test_a_decay_that_is_none_is_refused(solver, decay):
    with pytest.raises(NetError, match="ema_decay must lie between 0 and 1"):
        solver(f"ema_decay: {decay}")
