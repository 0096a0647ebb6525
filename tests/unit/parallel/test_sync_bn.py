"""Running statistics of several ranks: whose, which parameters, and their means."""

import numpy as np
import pytest

from pycaffe_dist.net import Net
from pycaffe_dist.parallel.sync_bn import Merging, batch_norms
from pycaffe_dist.parallel.transport.communicator import run
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing.ranks import run_ranks

INPUT = """
state { phase: TRAIN }
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 1 dim: 2 } } }
"""
NET = """
layer { name: "one" type: "BatchNorm" bottom: "x" top: "one" }
layer { name: "fixed" type: "BatchNorm" bottom: "one" top: "fixed"
        batch_norm_param { use_global_stats: true } }
layer { name: "relu" type: "ReLU" bottom: "fixed" top: "fixed" }
layer { name: "two" type: "BatchNorm" bottom: "fixed" top: "two" }
"""


def build(layers=NET):
    return Net(parse_text(INPUT + layers, NetParameter()).message)


def norm(layer):
    return build(f'layer {{ name: "norm" bottom: "x" top: "y" {layer} }}')


def test_layers_that_keep_statistics_are_found():
    assert [layer.name for layer in batch_norms(build())] == ["one", "two"]


@pytest.mark.parametrize(
    ("layer", "kept"),
    [
        ('type: "BatchNorm"', [0, 1, 2]),
        ('type: "BN" bn_param { momentum: 0.5 }', [2, 3]),  # not what it learns
        ('type: "BN" bn_param { bn_mode: LEARN }', []),
    ],
)
def test_statistics(layer, kept):
    (layer,) = batch_norms(norm(layer))
    assert layer.statistics() == [layer.blobs[i] for i in kept]


@pytest.mark.parametrize("moved", [True, False])
def test_merged_statistics_are_the_means_of_all_ranks_after_a_pass(moved):
    """Of any rank; else they are not touched, as the mean of equal numbers may be rounded."""

    def work(communicator):
        net = build()
        merging = Merging(net)
        if moved and communicator.rank == 1:
            net.forward()
        blobs = [blob.data for layer in batch_norms(net) for blob in layer.blobs]
        for i, values in enumerate(blobs):
            values[...] = 10 * i + np.arange(values.size) + 3 * communicator.rank
        for _ in range(2):  # the second time there is nothing to do
            run(merging.steps(Port(communicator)))
        return [values.tolist() for values in blobs]

    sizes = [3, 3, 1] * 2
    for rank, found in enumerate(run_ranks(3, work)):
        add = 3 if moved else 3 * rank
        assert found == [[10.0 * i + k + add for k in range(n)] for i, n in enumerate(sizes)]


def test_without_statistics_there_is_nothing_to_merge():
    def work(communicator):
        net = norm('type: "BN" bn_param { bn_mode: LEARN }')
        merging = Merging(net)
        net.forward()
        before = [blob.data.copy() for blob in net.layers[-1].blobs]
        run(merging.steps(Port(communicator)))
        same = zip(before, net.layers[-1].blobs, strict=True)
        return all((values == blob.data).all() for values, blob in same)

    assert run_ranks(2, work) == [True, True]
