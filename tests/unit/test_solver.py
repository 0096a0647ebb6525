"""The training loop: order of events, smoothing, tests, stops (numbers: the golden runs)."""

from itertools import pairwise

import numpy as np
import pytest

from pycaffe_dist import events as e
from pycaffe_dist import solver as solver_module
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Action, Solver

NET = """
name: "line"
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 }
    data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""
SETTINGS = 'base_lr: 0.01 lr_policy: "fixed" max_iter: 6 random_seed: 1 '


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)

    def solver(settings="", net='net: "net.prototxt"'):
        text = f'{net} {SETTINGS} snapshot_prefix: "s" snapshot_after_train: false {settings}'
        made = Solver(parse_text(text, SolverParameter()).message)
        made.told = []
        made.subscribers.append(made.told.append)
        return made

    return solver


class Clock:
    """In the place of ``time``: stands still unless told to go on."""

    def __init__(self, now):
        self.now = now

    def perf_counter(self):
        return self.now

    def tick(self, event):
        if isinstance(event, e.Updated):
            self.now += 2


def kinds(solver):
    return [type(event).__name__ for event in solver.told]


def test_events_of_a_whole_run_in_order(make):
    solver = make("display: 3 test_iter: 2 test_interval: 3")
    solver.solve()
    assert kinds(solver) == (
        ["SolveBegins"]
        + ["TestBegins", "Tested", "Displayed", "RateChosen", "Updated", "Updated", "Updated"] * 2
        + ["LastLoss", "TestBegins", "Tested", "SolveEnds"]
    )
    assert [x.iteration for x in solver.told if isinstance(x, e.Displayed)] == [0, 3]
    assert solver.iter == 6


def test_no_test_before_the_first_iteration_if_so_wished(make):
    solver = make("test_iter: 1 test_interval: 3 test_initialization: false")
    solver.step(4)
    assert [x.iteration for x in solver.told if isinstance(x, e.Tested)] == [3]


def test_smoothed_loss_is_the_mean_of_a_window(make):
    solver = make("average_loss: 2 display: 1")
    losses = []
    solver.on_gradients_ready.append(lambda: losses.append(float(solver.last_loss)))
    solver.step(4)
    shown = [x.loss for x in solver.told if isinstance(x, e.Displayed)]
    expected = [losses[0]] + [(a + b) / 2 for a, b in pairwise(losses)]
    np.testing.assert_allclose(shown, expected)


@pytest.mark.host
def test_iterations_per_second_are_those_since_the_last_display(make, monkeypatch):
    clock = Clock(100.0)
    monkeypatch.setattr(solver_module, "time", clock)
    solver = make("display: 2")
    clock.now += 3
    solver.subscribers.append(clock.tick)  # two seconds an update
    solver.step(5)
    shown = [x for x in solver.told if isinstance(x, e.Displayed)]
    assert [(x.iteration, x.seconds, x.per_second) for x in shown] == [
        (0, 0.0, 0.0),
        (2, 4.0, 0.5),
        (4, 4.0, 0.5),
    ]


def test_iter_size_averages_loss_and_gradient(make):
    """The gradients of both passes add up and are halved."""
    twice = make("iter_size: 2")
    weights = twice.net.layers[1].blobs[0]
    start, grads = weights.data.copy(), []
    twice.net.after_backward(lambda i: grads.append(weights.diff.copy()) if i == 0 else None)
    twice.step(1)
    np.testing.assert_allclose(start - weights.data, 0.01 * grads[-1] / 2, rtol=1e-4)


def test_clipping_comes_before_the_division_by_iter_size(make):
    solver = make("iter_size: 2 clip_gradients: 0.001")
    weights, bias = solver.net.layers[1].blobs
    before = weights.data.copy(), bias.data.copy()
    solver.step(1)
    step = np.concatenate([(before[0] - weights.data).ravel(), before[1] - bias.data])
    assert np.linalg.norm(step) == pytest.approx(0.01 * 0.001 / 2, rel=1e-2)
    assert "Clipped" in kinds(solver)


def test_multistep_moves_on_at_its_values(make):
    solver = make()
    solver.param.lr_policy, solver.param.gamma = "multistep", 0.1
    solver.param.stepvalue.extend([2, 4])
    solver.step(6)
    rates = [x.rate for x in solver.told if isinstance(x, e.Updated)]
    np.testing.assert_allclose(rates, [0.01] * 2 + [0.001] * 2 + [0.0001] * 2, rtol=1e-6)
    assert [x.iteration for x in solver.told if isinstance(x, e.StepPassed)] == [2, 4]


def test_a_stop_between_iterations(make):
    solver = make()
    solver.requested_action = lambda: Action.STOP if solver.iter == 2 else Action.NONE
    solver.solve()
    assert solver.iter == 2
    assert solver.told[-1].early


def test_a_stop_during_a_test(make):
    solver = make("test_iter: 5 test_interval: 1")
    asked = iter([Action.NONE, Action.STOP])
    solver.requested_action = lambda: next(asked)
    solver.step(3)
    assert kinds(solver) == ["TestBegins", "TestInterrupted"]
    assert solver.iter == 0


def test_test_nets_share_the_weights_and_average_their_outputs(make):
    solver = make("test_iter: 3 test_interval: 100")
    solver.net.layers[1].blobs[0].data[...] = 0.5
    values = []
    solver.test_nets[0].after_forward(
        lambda i: values.append(float(solver.test_nets[0].blobs[-1].data)) if i == 2 else None
    )
    solver.test(0)
    assert solver.test_nets[0].layers[1].blobs[0].data[0, 0] == 0.5
    (tested,) = [x for x in solver.told if isinstance(x, e.Tested)]
    assert tested.outputs[0].value == pytest.approx(np.mean(values))


@pytest.mark.parametrize(
    ("settings", "net", "text"),
    [
        ("average_loss: 0", 'net: "net.prototxt"', "average_loss"),
        ("iter_size: 0", 'net: "net.prototxt"', "iter_size"),
        ('type: "Sgd"', 'net: "net.prototxt"', 'did you mean "SGD"'),
        ("", "", "exactly one of net"),
        ("test_iter: 1", 'net: "net.prototxt"', "test_interval above 0"),
    ],
)
def test_settings_that_cannot_work(make, settings, net, text):
    with pytest.raises(NetError, match=text):
        make(settings, net)


def test_same_seed_same_run(make):
    runs = []
    for _ in range(2):
        solver = make()
        solver.solve()
        runs.append(solver.net.layers[1].blobs[0].data.copy())
    np.testing.assert_array_equal(*runs)


def test_states_of_train_and_test_nets(make, tmp_path):
    rule = 'layer { name: "s" type: "Silence" bottom: "x" include { stage: "deep" } }'
    (tmp_path / "net.prototxt").write_text(NET + rule)
    solver = make(
        'train_state { stage: "deep" } test_state { } test_state { stage: "deep" } '
        "test_iter: 1 test_iter: 1 test_interval: 1"
    )
    has = ["s" in net.layer_names for net in [solver.net, *solver.test_nets]]
    assert has == [True, False, True]


# -- forks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["BINARYPROTO", "HDF5"])
def test_plateau_falls_when_the_loss_does_not_and_goes_on_after_a_snapshot(kind, make):
    """The loss is 7 from the first iteration on."""
    settings = f'lr_policy: "plateau" gamma: 0.5 plateau_winsize: [2, 3] snapshot_format: {kind}'

    def steady():
        solver = make()
        solver.param.MergeFrom(parse_text(settings, SolverParameter()).message)
        solver.param.base_lr = 0
        return solver

    (one, two), falls = (steady(), steady()), []
    for solver in (one, two):
        solver.net.forward = lambda: 7.0
        solver.net.backward = lambda: None
    one.step(4)
    one.snapshot()
    two.restore(one.told[-1].state)
    two.step(4)
    for solver in (one, two):
        falls += [(x.iteration, x.step) for x in solver.told if isinstance(x, e.StepPassed)]
    assert falls == [(2, 1), (5, 2)]
    assert (two.plateau.minimum_loss, two.plateau.last_event) == (7, 5)


CONSTANT = """layer {{ name: "{0}" type: "DummyData" top: "{0}"
  dummy_data_param {{ shape {{ dim: [1, 1, 1, {1}] }} data_filler {{ value: {2} }} }} }}"""
TABLES = """
layer { name: "found" type: "Concat" bottom: "ones" bottom: "low" bottom: "high" top: "found"
  concat_param { axis: 3 } }
layer { name: "truth" type: "Concat" bottom: "ones" bottom: "low" bottom: "high" bottom: "easy"
  top: "truth" concat_param { axis: 3 } }
layer { name: "table" type: "DetectionEvaluate" bottom: "found" bottom: "truth" top: "table"
  detection_evaluate_param { num_classes: 3 } }
"""


@pytest.mark.parametrize(
    ("classes", "mean", "shown"),
    [(3, 0.5, ["class1: 1", "class2: 0"]), (3, 0.5, []), (2, 1.0, [])],
)
def test_a_detector_is_tested_by_its_mean_average_precision(
    make, tmp_path, caplog, classes, mean, shown
):
    """One class has a box that is found, another has nothing."""
    caplog.set_level("INFO")
    rows = [("ones", 3, 1), ("low", 2, 0), ("high", 2, 1), ("easy", 1, 0)]
    parts = "\n".join(CONSTANT.format(*row) for row in rows)
    (tmp_path / "test.prototxt").write_text(
        parts + TABLES.replace("classes: 3", f"classes: {classes}")
    )
    solver = make(
        f'eval_type: "detection" show_per_class_result: {str(bool(shown)).lower()} '
        "test_iter: 2 test_interval: 5",
        'train_net: "net.prototxt" test_net: "test.prototxt"',
    )
    solver.test_all()
    (tested,) = [x for x in solver.told if isinstance(x, e.Tested)]
    assert [(o.index, o.name, o.value) for o in tested.outputs] == [(0, "table", mean)]
    said = [r.getMessage() for r in caplog.records if r.getMessage().startswith("class")]
    assert said == shown
