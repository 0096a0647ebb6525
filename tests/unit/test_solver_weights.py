"""Weights that a solver's file names, and batches that are passed over."""

import logging

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver

DATA = """layer { name: "x" type: "DummyData" top: "x"
  dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }"""
SOLVER = """base_lr: 0.1 lr_policy: "fixed" test_iter: 1 test_interval: 1
            snapshot_after_train: false net_param { %s } """


def layers(names):
    return "\n".join(
        f'layer {{ name: "{name}" type: "InnerProduct" bottom: "x" top: "{name}" '
        "inner_product_param { num_output: 2 } }"
        for name in names
    )


def net_of(names):
    return Net(parse_text(DATA + layers(names), NetParameter()).message)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A weights file with such layers, whose weights are all this number."""
    monkeypatch.chdir(tmp_path)

    def write(name, names, value):
        net = net_of(names)
        for layer in net.layers[-len(names) :]:
            layer.blobs[0].data[...] = value
        save_weights(net, name)

    return write


def solver(names, weights):
    text = SOLVER % (DATA + layers(names)) + weights
    return Solver(parse_text(text, SolverParameter()).message)


def values(net):
    return {la.name: float(la.blobs[0].data[0, 0]) for la in net.layers if la.blobs}


@pytest.mark.parametrize("weights", ['weights: "one, two"', 'weights: "one" weights: "two"'])
def test_several_files_fill_the_training_net_and_the_test_nets(file, weights):
    file("one", ["a", "b"], 1)
    file("two", ["b", "c"], 2)
    made = solver(["a", "b", "c"], weights)
    for net in (made.net, *made.test_nets):
        assert values(net) == {"a": 1, "b": 2, "c": 2}


def test_layers_without_weights_are_named_once(file, caplog):
    file("one", ["a", "b"], 1)
    file("two", ["b", "other"], 2)
    with caplog.at_level(logging.WARNING, "pycaffe_dist"):
        made = solver(["a", "b", "c", "d"], 'weights: "one,two"')
    assert values(made.net) == {"a": 1, "b": 2, "c": 0, "d": 0}
    (said,) = (r.getMessage() for r in caplog.records if "no weights" in r.getMessage())
    assert said == "one, two: no weights for the layers c, d: they keep the values they have"
    report = made.load_weights("one", "two")
    assert (report.copied, report.missing) == (["a", "b", "b"], ["c", "d"])
    assert report.ignored == ["other"]


def test_one_file_of_another_net_is_refused_whatever_the_others_have(file):
    file("one", ["a"], 1)
    file("two", ["other"], 2)
    with pytest.raises(NetError, match=r"^two: has no weights for this net.*: a; layers in the"):
        solver(["a"], 'weights: "one,two"')


def test_a_batch_is_passed_over():
    net = net_of(["a"])
    net.layers[-1].blobs[0].data[...] = 1
    net.forward()
    x, y = (blob.data.copy() for blob in net.blobs)
    net.feed()
    assert not np.array_equal(net.blobs[0].data, x)
    np.testing.assert_array_equal(net.blobs[1].data, y)
