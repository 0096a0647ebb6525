"""Operators that become one layer together, and layers that write over what they read."""

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

sys.path.insert(0, str(Path(__file__).parent))
from read_models import agrees, model_of, rand, read
from test_export import CONV, INPUT, NORM, POOL, RELU, SCALE, build

from pycaffe_dist.onnx.export import export
from pycaffe_dist.onnx.writing import write_model

node = helper.make_node
IMAGE = {"x": (2, 4, 9, 8)}
CHANNELS = {"a": rand(4, 1, 1), "b": rand(4, 1, 1)}
ROW = {"a": rand(8), "b": rand(4, 1, 1)}


def numbers(**values):
    return {name: np.float32(value) for name, value in values.items()}


def layers(tmp_path, nodes, constants, outputs=("y",)):
    """The layers behind the inputs; what they compute is compared."""
    path = model_of(tmp_path, nodes, IMAGE, constants, outputs)
    net, model = read(path)
    agrees(path, net, model)
    return [la for la in net.net_param.layer if la.type not in ("Input", "Split")]


JOINED = {
    "a factor and a bias": (
        [node("Mul", ["x", "a"], ["m"]), node("Add", ["m", "b"], ["y"])],
        CHANNELS,
        ["Scale"],
    ),
    "a factor and two biases": (
        [
            node("Mul", ["x", "a"], ["m"]),
            node("Add", ["m", "b"], ["n"]),
            node("Sub", ["n", "a"], ["y"]),
        ],
        CHANNELS,
        ["Scale"],
    ),
    "a factor and a bias of other axes": (
        [node("Mul", ["x", "a"], ["m"]), node("Add", ["m", "b"], ["y"])],
        ROW,
        ["Scale", "Bias"],
    ),
    "a bias and a factor": (
        [node("Add", ["x", "a"], ["m"]), node("Mul", ["m", "b"], ["y"])],
        CHANNELS,
        ["Bias", "Scale"],
    ),
    "a power": (
        [
            node("Mul", ["x", "k"], ["m"]),
            node("Add", ["m", "t"], ["n"]),
            node("Mul", ["n", "k"], ["o"]),
            node("Pow", ["o", "p"], ["y"]),
        ],
        numbers(k=0.1, t=3, p=2),
        ["Power"],
    ),
    "a factor behind a power": (
        [node("Pow", ["x", "p"], ["m"]), node("Mul", ["m", "k"], ["y"])],
        numbers(k=0.1, p=2),
        ["Power", "Power"],
    ),
    "a sum of three with factors": (
        [
            node("Sigmoid", ["x"], ["s"]),
            node("Mul", ["x", "k"], ["m"]),
            node("Sub", ["s", "m"], ["d"]),
            node("Add", ["d", "x"], ["y"]),
        ],
        numbers(k=3),
        ["Sigmoid", "Eltwise"],
    ),
    "a product of three": (
        [
            node("Sigmoid", ["x"], ["s"]),
            node("Mul", ["x", "s"], ["m"]),
            node("Mul", ["x", "m"], ["y"]),
        ],
        {},
        ["Sigmoid", "Eltwise"],
    ),
    "a sum and a product": (
        [
            node("Sigmoid", ["x"], ["s"]),
            node("Add", ["x", "s"], ["m"]),
            node("Mul", ["x", "m"], ["y"]),
        ],
        {},
        ["Sigmoid", "Eltwise", "Eltwise"],
    ),
    "a factor in a product": (
        [
            node("Sigmoid", ["x"], ["s"]),
            node("Mul", ["x", "k"], ["m"]),
            node("Mul", ["s", "m"], ["y"]),
        ],
        numbers(k=3),
        ["Sigmoid", "Power", "Eltwise"],
    ),
    "a factor that is read twice": (
        [
            node("Mul", ["x", "a"], ["m"]),
            node("Add", ["m", "b"], ["n"]),
            node("Mul", ["m", "n"], ["y"]),
        ],
        CHANNELS,
        ["Scale", "Bias", "Eltwise"],
    ),
}


@pytest.mark.parametrize("case", JOINED)
def test_operators_that_one_layer_does(tmp_path, case):
    nodes, constants, types = JOINED[case]
    assert [la.type for la in layers(tmp_path, nodes, constants)] == types


def test_an_output_stays(tmp_path):
    nodes = [node("Mul", ["x", "a"], ["m"]), node("Add", ["m", "b"], ["y"])]
    assert len(layers(tmp_path, nodes, CHANNELS, ["m", "y"])) == 2


def test_a_residual_net_comes_back_as_it_was(tmp_path):
    other = CONV.replace('"c"', '"d"')
    total = """layer { name: "sum" type: "Eltwise" bottom: "c" bottom: "d" bottom: "d" top: "sum"
      eltwise_param { coeff: [1, -2, 0.5] } }"""
    power = """layer { name: "w" type: "Power" bottom: "p" top: "w"
      power_param { scale: 2 shift: 9 power: 3 } }"""
    pool = POOL.replace('bottom: "c"', 'bottom: "sum"').replace("AVE", "MAX")
    pool = pool.replace("stride: 2", "stride: 2 round_mode: FLOOR")
    net = build(INPUT, CONV, NORM, SCALE, RELU, other, total, pool, power)
    with open(tmp_path / "m.onnx", "wb") as file:
        write_model(export(net), file)
    back, _ = read(tmp_path / "m.onnx")
    for ours, theirs in zip(net.net_param.layer, back.net_param.layer, strict=True):
        assert (ours.name, ours.type) == (theirs.name, theirs.type)
        assert (ours.bottom, ours.top) == (theirs.bottom, theirs.top)
        assert len(ours.blobs) == len(theirs.blobs)
    found = {la.name: la for la in back.net_param.layer}
    assert found["s"].scale_param.bias_term
    assert found["sum"].eltwise_param.coeff == [1, -2, 0.5]
    p = found["w"].power_param
    assert (p.scale, p.shift, p.power) == (2, 9, 3)


# -- in place --------------------------------------------------------------------------------------

CONVOLVED = node("Conv", ["x", "w"], ["c"])
BELOW = {
    "an activation behind weights": ([CONVOLVED, node("Relu", ["c"], ["y"])], True),
    "behind a sum": ([node("Add", ["x", "x"], ["c"]), node("Relu", ["c"], ["y"])], True),
    "behind a value that its gradient needs": (
        [node("Sigmoid", ["x"], ["c"]), node("Relu", ["c"], ["y"])],
        False,
    ),
    "bounds, whose gradient needs what is below": (
        [CONVOLVED, node("Clip", ["c", "", "k"], ["y"])],
        False,
    ),
    "a power, whose gradient needs what is below": (
        [CONVOLVED, node("Pow", ["c", "k"], ["y"])],
        False,
    ),
    "another reader": (
        [CONVOLVED, node("Relu", ["c"], ["r"]), node("Add", ["c", "r"], ["y"])],
        False,
    ),
    "another reader of the same memory": (
        [
            CONVOLVED,
            node("Reshape", ["c", "n"], ["f"]),
            node("Relu", ["f"], ["r"]),
            node("Reshape", ["r", "m"], ["t"]),
            node("Add", ["c", "t"], ["y"]),
        ],
        False,
    ),
    "no other reader of the same memory": (
        [CONVOLVED, node("Reshape", ["c", "n"], ["f"]), node("Relu", ["f"], ["y"])],
        True,
    ),
    "a constant": ([node("Max", ["x", "b"], ["c"]), node("Relu", ["c"], ["y"])], False),
}


@pytest.mark.parametrize("case", BELOW)
def test_a_layer_works_in_place_where_nobody_wants_what_it_reads(tmp_path, case):
    nodes, in_place = BELOW[case]
    constants = {"w": rand(4, 4, 1, 1), "n": np.array([2, -1]), "m": np.array([2, 4, 9, 8])}
    used = {name for one in nodes for name in one.input}
    constants |= {"k": np.float32(0.5), "b": np.abs(rand(4, 9, 8))}
    kept = {name: values for name, values in constants.items() if name in used}
    if case.startswith("a power"):
        kept["k"] = np.float32(2)
    made = layers(tmp_path, nodes, kept)
    assert any(la.bottom[:1] == la.top[:1] for la in made) == in_place


# -- windows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strides", "pads", "types", "rounds"),
    [
        ([2, 2], [0, 0, 1, 1], ["Pooling"], None),  # the last windows reach over the edge
        ([2, 2], [1, 1, 2, 2], ["Pooling"], None),
        ([2, 2], [1, 1, 0, 0], ["Pooling"], "FLOOR"),  # no window reaches the padding behind
        ([1, 1], [0, 1, 2, 0], ["Pad", "Pooling"], "FLOOR"),
    ],
)
def test_padding_behind_that_is_as_caffes(tmp_path, strides, pads, types, rounds):
    size = {"x": (2, 4, 10, 8)}
    pool = node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=strides, pads=pads)
    path = model_of(tmp_path, [pool], size, {})
    net, model = read(path)
    agrees(path, net, model)
    made = [la for la in net.net_param.layer if la.type != "Input"]
    assert [la.type for la in made] == types
    p = made[-1].pooling_param
    assert (p.RoundMode.Name(p.round_mode) if p.HasField("round_mode") else None) == rounds
