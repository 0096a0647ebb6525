"""Differences from ONNX Runtime: rounding is told from mistakes by a pass in float64."""

import numpy as np
import pytest

from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.layer import Context
from pycaffe_dist.layers.ssd.detection_output import DetectionOutput
from pycaffe_dist.net import Net
from pycaffe_dist.onnx.check import difference
from pycaffe_dist.onnx.comparing import Comparison, _Output, compare
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

# (1000 x + y) − 1000 x: in float32 three digits of y are lost.
CANCELLING = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 50 } } }
layer { name: "y" type: "Input" top: "y" input_param { shape { dim: 1 dim: 50 } } }
layer { name: "sum" type: "Eltwise" bottom: "x" bottom: "y" top: "sum"
  eltwise_param { coeff: 1000 coeff: 1 } }
layer { name: "rest" type: "Eltwise" bottom: "sum" bottom: "x" top: "rest"
  eltwise_param { coeff: 1 coeff: -1000 } }
"""
LIMIT = 1e-5


@pytest.fixture
def net():
    param = parse_text(CANCELLING, NetParameter()).message
    param.state.phase = 1
    return Net(param, Context(engine=NUMPY))


@pytest.fixture
def inputs():
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal((1, 50)).astype(np.float32) for name in "xy"}


def test_another_rounding_is_taken_for_one_and_told(net, inputs, caplog):
    found = compare(net, inputs, {"rest": inputs["y"]}, LIMIT)["rest"]
    assert found.apart > LIMIT and found.within(LIMIT)
    assert found.theirs < found.ours == pytest.approx(found.apart, rel=1e-3)
    assert "rest differs by" in caplog.text and "This is rounding" in caplog.text


def test_a_mistake_is_not(net, inputs, caplog):
    wrong = inputs["y"].copy()
    wrong[0, 7] += 0.01
    found = compare(net, inputs, {"rest": wrong}, LIMIT)["rest"]
    assert found.theirs > 3 * found.ours > 0
    assert not found.within(LIMIT)
    assert "rounding" not in caplog.text


@pytest.mark.parametrize(("times", "allowed"), [(9, True), (11, False)])
def test_half_precision_may_round_ten_times_as_much(net, inputs, times, allowed):
    once = compare(net, inputs, {"rest": inputs["y"] + 1}, 1e-2, half=True)["rest"].ours
    wrong = inputs["y"] + np.float32(times * once * np.abs(inputs["y"]).max())
    assert compare(net, inputs, {"rest": wrong}, 1e-2, half=True)["rest"].within(1e-2) == allowed


def test_half_precision_is_judged_by_our_layers_in_half_precision(net, inputs):
    x, y = (inputs[name].astype(np.float16) for name in "xy")
    theirs = (np.float16(1000) * x + y) - np.float16(1000) * x
    theirs = {"rest": theirs.astype(np.float32)}
    found = compare(net, inputs, theirs, 1e-2, half=True)["rest"]
    assert found.apart > 1e-2 and found.within(1e-2)
    assert not compare(net, inputs, theirs, 1e-2)["rest"].within(1e-2)


def test_what_is_within_the_limit_needs_no_second_pass(net, inputs):
    net.forward()
    found = compare(net, inputs, {"rest": inputs["y"], "no blob": inputs["x"]}, 0.1)
    assert found.keys() == {"rest"}
    assert (found["rest"].ours, found["rest"].theirs) == (0, 0)


@pytest.mark.parametrize("apart", [np.inf, np.nan])
def test_what_is_no_number_is_no_rounding(apart):
    assert not Comparison(apart, 0.0, apart).within(LIMIT)
    assert not Comparison(apart, apart, apart).within(LIMIT)


def test_nothing_is_told_where_rounding_is_all_there_is():
    assert not Comparison(0.5, 0.4, 0.4).within(1e-4)


def test_values_that_are_no_numbers_differ_from_those_that_are():
    a = np.array([1.0, np.nan, np.inf])
    assert difference(a, a) == 0
    assert difference(a, np.array([1.0, 2.0, np.inf])) == np.inf
    assert difference(a, a[:2]) == np.inf


# -- places of largest values ---------------------------------------------------------------------

PLACES = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 3 } } }
layer { name: "best" type: "ArgMax" bottom: "x" top: "best" argmax_param { axis: 1 } }
"""


@pytest.fixture
def places():
    param = parse_text(PLACES, NetParameter()).message
    param.state.phase = 1
    return Net(param, Context(engine=NUMPY))


def test_of_two_values_that_are_nearly_the_same_either_may_be_the_largest(places):
    x = np.random.default_rng(2).uniform(0, 1, (2, 4, 3)).astype(np.float32)
    x[1, :, 2] = 0.5, 2, 0.25, 2 + 1e-6
    theirs = x.argmax(axis=1, keepdims=True).astype(np.float32)
    assert theirs[1, 0, 2] == 3
    theirs[1, 0, 2] = 1
    assert 0 < compare(places, {"x": x}, {"best": theirs}, 1e-4)["best"].apart < 1e-6
    theirs[1, 0, 2] = 0
    assert not compare(places, {"x": x}, {"best": theirs}, 1e-4)["best"].within(1e-4)


@pytest.mark.parametrize("wrong", [-1, 4, np.nan])
def test_a_place_that_is_none_is_a_mistake(places, wrong):
    x = np.ones((2, 4, 3), np.float32)
    theirs = np.full((2, 1, 3), 3, np.float32)
    assert compare(places, {"x": x}, {"best": theirs}, 1e-4)["best"].apart == 0
    theirs[0, 0, 0] = wrong
    assert not compare(places, {"x": x}, {"best": theirs}, 1e-4)["best"].within(1e-4)


def test_boxes_with_nearly_the_same_score_may_be_in_any_order():
    rng = np.random.default_rng(3)
    ours = np.concatenate([np.ones((6, 2)), rng.random((6, 5))], axis=1)
    ours[:, 2] = 0.9, 0.5, 0.5 + 1e-7, 0.5, 0.2, 0.1
    swapped = ours[[0, 2, 3, 1, 4, 5]]
    ours, swapped = (a[None, None].astype(np.float32) for a in (ours, swapped))
    output = _Output.__new__(_Output)
    output.name, output.layer = "boxes", DetectionOutput.__new__(DetectionOutput)
    assert output.apart({"boxes": ours}, {"boxes": swapped}) < 1e-6
    assert output.apart({"boxes": ours}, {"boxes": swapped[:, :, ::-1]}) > 0.1
    swapped[0, 0, 2, 5] += 0.2
    assert output.apart({"boxes": ours}, {"boxes": swapped}) > 0.1


@pytest.mark.parametrize("kind", ["MemoryData", "DummyData"])
def test_sources_do_not_put_their_own_data_in_the_place_of_the_inputs(kind):
    """One has none, and says so; another makes some up."""
    settings = {
        "MemoryData": "memory_data_param { batch_size: 2 channels: 3 height: 1 width: 1 }",
        "DummyData": "dummy_data_param { shape { dim: 2 dim: 3 dim: 1 dim: 1 } shape { dim: 2 } "
        "data_filler { type: 'gaussian' } data_filler { type: 'gaussian' } }",
    }
    text = (
        f'layer {{ name: "d" type: "{kind}" top: "data" top: "label" {settings[kind]} }} '
        'layer { name: "p" type: "Power" bottom: "data" top: "y" power_param { scale: 2 } }'
        'layer { name: "s" type: "Accuracy" bottom: "y" bottom: "label" top: "right" } '
    )
    net = Net(parse_text(text, NetParameter()).message, Context(engine=NUMPY))
    net.blobs[net.blob_ids["label"]].data[...] = 7  # none of the classes
    data = np.random.default_rng(0).standard_normal((2, 3, 1, 1)).astype(np.float32)
    assert compare(net, {"data": data}, {"y": 2 * data}, LIMIT)["y"].apart == 0
