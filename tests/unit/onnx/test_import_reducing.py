"""Operators that make one value of several, that compare, and constants in their place."""

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).parent))
from read_models import agrees, model_of, rand, read

from pycaffe_dist.errors import PcdError

node = helper.make_node
IMAGE = {"x": (2, 4, 9, 8)}
KINDS = ["ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceSum", "ReduceMean", "ReduceMax"]


def types(path):
    net, model = read(path)
    agrees(path, net, model)
    return [la.type for la in net.net_param.layer if la.type not in ("Input", "Split")]


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("axes", [[1], [1, 2, 3], [0, 2]])
@pytest.mark.parametrize("kind", KINDS)
def test_reductions(tmp_path, kind, axes, keep):
    first = {"ReduceSum": (["x", "a"], {}, {"a": np.array(axes)})}
    inputs, given, constants = first.get(kind, (["x"], {"axes": axes}, {}))
    path = model_of(tmp_path, [node(kind, inputs, ["y"], keepdims=keep, **given)], IMAGE, constants)
    assert types(path)


@pytest.mark.parametrize(("kind", "name"), [("ReduceL1", "ASUM"), ("ReduceSumSquare", "SUMSQ")])
def test_reductions_of_the_last_axes_are_bvlcs(tmp_path, kind, name):
    path = model_of(tmp_path, [node(kind, ["x"], ["y"], axes=[2, 3], keepdims=0)], IMAGE, {})
    (layer,) = [la for la in read(path)[0].net_param.layer if la.type == "Reduction"]
    p = layer.reduction_param
    assert (p.ReductionOp.Name(p.operation), p.axis) == (name, 2)
    assert types(path) == ["Reduction"]


def test_a_logarithm_of_a_sum(tmp_path):
    nodes = [node("Exp", ["x"], ["e"]), node("ReduceLogSum", ["e"], ["y"], axes=[1, 2])]
    assert types(model_of(tmp_path, nodes, IMAGE, {})) == ["Exp", "ReduceSum", "Log"]


def test_the_largest_values_and_their_places(tmp_path):
    nodes = [
        node("TopK", ["x", "k"], ["v", "i"], axis=-1),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Add", ["v", "f"], ["y"]),
    ]
    path = model_of(tmp_path, nodes, IMAGE, {"k": np.array([3])})
    assert types(path) == ["ArgMax", "ArgMax", "Eltwise"]
    nodes = [node("TopK", ["x", "k"], ["y", "i"], axis=1)]
    assert types(model_of(tmp_path, nodes, IMAGE, {"k": np.array([2])})) == ["ArgMax"]
    nodes = [node("TopK", ["x", "k"], ["y", "i"], largest=0)]
    path = model_of(tmp_path, nodes, IMAGE, {"k": np.array([2])})
    with pytest.raises(PcdError, match=r"\(TopK\) takes the smallest"):
        read(path)


COMPARED = [("Greater", "x", "t"), ("Less", "x", "t"), ("Greater", "t", "x"), ("Less", "t", "x")]


@pytest.mark.parametrize("not_", [False, True])
@pytest.mark.parametrize(("kind", "a", "b"), COMPARED)
def test_values_above_and_below_a_number(tmp_path, kind, a, b, not_):
    nodes = [node(kind, [a, b], ["g"])]
    nodes += [node("Not", ["g"], ["n"])] if not_ else []
    nodes += [node("Cast", ["n" if not_ else "g"], ["y"], to=TensorProto.FLOAT)]
    path = model_of(tmp_path, nodes, IMAGE, {"t": np.float32(0.5)})
    assert "Threshold" in types(path)


def test_a_comparison_with_several_numbers_is_refused(tmp_path):
    nodes = [node("Greater", ["x", "t"], ["g"]), node("Cast", ["g"], ["y"], to=TensorProto.FLOAT)]
    path = model_of(tmp_path, nodes, IMAGE, {"t": rand(8)})
    with pytest.raises(PcdError, match="compares with something else than one number"):
        read(path)


def test_rows_by_numbers(tmp_path):
    nodes = [node("Gather", ["x", "i"], ["y"])]
    kinds = {"i": TensorProto.INT64}
    path = model_of(tmp_path, nodes, {**IMAGE, "i": (5,)}, {}, types=kinds)
    net, _ = read(path)
    assert [la.type for la in net.net_param.layer][2:] == ["BatchReindex"]
    net.blobs[net.blob_ids["x"]].data[...] = rand(2, 4, 9, 8)
    net.blobs[net.blob_ids["i"]].data[...] = [1, 0, 0, 1, 1]
    net.forward()
    assert np.array_equal(net.blobs[net.blob_ids["y"]].data, rand(2, 4, 9, 8)[[1, 0, 0, 1, 1]])


@pytest.mark.parametrize("shape", [(5, 9), (1, 9)])
def test_a_matrix_on_the_left(tmp_path, shape):
    path = model_of(tmp_path, [node("MatMul", ["w", "x"], ["y"])], IMAGE, {"w": rand(*shape)})
    assert types(path) == ["Permute", "InnerProduct", "Permute"]


CONSTANTS = {
    "joined": [node("Concat", ["w", "x"], ["y"], axis=1)],
    "as large": [node("Max", ["x", "c"], ["y"])],
    "the smaller one": [node("Min", ["c", "x"], ["y"])],
    "a mean": [node("Mean", ["x", "c", "x"], ["y"])],
    "several matrices": [node("MatMul", ["x", "m"], ["y"])],
    "an output": [node("Relu", ["x"], ["y"]), node("Neg", ["w"], ["z"])],
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_constants_are_parameters_where_blobs_are_needed(tmp_path, case):
    constants = {"w": rand(2, 3, 9, 8), "c": rand(4, 1, 8), "m": rand(2, 4, 8, 3)}
    nodes = CONSTANTS[case]
    used = {name for one in nodes for name in one.input}
    constants = {name: values for name, values in constants.items() if name in used}
    outputs = ("y", "z") if case == "an output" else ("y",)
    path = model_of(tmp_path, nodes, IMAGE, constants, outputs)
    assert "Parameter" in types(path)
    net, model = read(path)
    for seed in (1, 2):  # nothing writes to the parameter
        agrees(path, net, model, seed=seed)
