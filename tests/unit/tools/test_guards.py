from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.events import Snapshotting
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.upgrade import upgrade_net
from pycaffe_dist.solvers.one_rank import OneRank
from pycaffe_dist.solvers.stepper import Stepper
from pycaffe_dist.tools.guards import LOG_FLT_MIN, LossGuard, TrainingError, first_non_finite

NET = """
input: "x" input_shape { dim: 2 dim: 3 }
layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 2 } }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b" inner_product_param { num_output: 2 } }
"""


@pytest.fixture
def net():
    param = parse_text(NET, NetParameter()).message
    upgrade_net(param)
    return Net(param)


def guard(net, on_nan="stop"):
    said, snapshots = [], []
    solver = SimpleNamespace(
        net=net,
        iter=7,
        last_loss=1.0,
        on_start=[],
        on_gradients_ready=[],
        on_settled=[],
        subscribers=[],
        may_look=lambda loss: True,
        snapshot=lambda: snapshots.append(7),
        snapshot_stem=lambda: "s_iter_7",
    )
    solver.ranks, solver.stepper = OneRank(), Stepper(solver)
    return LossGuard(solver, on_nan, said.append), solver, said, snapshots


def test_the_first_layer_at_fault(net):
    assert "all blobs are finite" in first_non_finite(net)
    net.layers[2].blobs[0].data[0, 0] = float("nan")
    assert first_non_finite(net) == 'layer "b" (InnerProduct), parameter 0'
    net.blobs[0].data[...] = net.layers[1].blobs[0].data[...] = 1e30
    assert first_non_finite(net) == 'layer "a" (InnerProduct), top "a"'


def test_a_finite_loss_passes(net):
    look, _, said, _ = guard(net)
    look.look()
    assert said == []


def test_running_statistics_stay_after_a_finite_loss():
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 } } }'
    text += 'layer { name: "n" type: "BatchNorm" bottom: "x" top: "n" }'
    net = Net(parse_text(text + "state { phase: TRAIN }", NetParameter()).message)
    net.blobs[0].data[...] = np.arange(12).reshape(4, 3)
    _, solver, said, _ = guard(net, "snapshot")
    for function in solver.on_start:
        function()
    net.forward()
    solver.stepper.offer(1.0)
    for function in solver.on_gradients_ready:
        function()
    np.testing.assert_allclose(net.layers[1].blobs[0].data, [4.5, 5.5, 6.5])
    assert said == []


@pytest.mark.parametrize(("on_nan", "made"), [("stop", []), ("snapshot", [7])])
def test_stopping(net, on_nan, made):
    look, solver, _, snapshots = guard(net, on_nan)
    solver.last_loss = float("nan")
    solver.stepper.offer(solver.last_loss)
    net.layers[2].blobs[0].data[0, 0] = float("nan")
    with pytest.raises(TrainingError, match='7: the loss is nan; first seen in layer "b"'):
        look.look()
    assert snapshots == made


def test_going_on_says_it_once(net):
    look, solver, said, _ = guard(net, "continue")
    solver.last_loss = float("inf")
    solver.stepper.offer(solver.last_loss)
    look.look()
    look.look()
    assert len(said) == 1


def test_weights_that_are_no_numbers_are_not_written(net):
    look, solver, _, _ = guard(net)
    event = Snapshotting(8, "weights", "binary proto", "s_iter_8.caffemodel")
    net.layers[1].blobs[0].data[...] = np.finfo(np.float32).max  # a sum that overflows is no fault
    solver.subscribers[0](event)
    net.layers[2].blobs[1].data[0] = np.inf
    with pytest.raises(
        TrainingError, match='iteration 8: parameter 1 of layer "b" is NaN or infinite'
    ):
        solver.subscribers[0](event)
    look.on_nan = "continue"
    solver.subscribers[0](event)


def test_87_is_explained_once(net):
    look, solver, said, _ = guard(net)
    solver.last_loss = LOG_FLT_MIN
    look.look()
    look.look()
    assert len(said) == 1
    assert "87.3365" in said[0]
    assert pytest.approx(87.3365, abs=1e-3) == LOG_FLT_MIN
