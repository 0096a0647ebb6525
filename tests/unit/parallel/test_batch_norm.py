"""Running statistics of several ranks: whose, and their means."""

import numpy as np

from pycaffe_dist.net import Net
from pycaffe_dist.parallel.batch_norm import batch_norms, merge
from pycaffe_dist.parallel.communicator import run
from pycaffe_dist.parallel.streams import Port
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing.ranks import run_ranks

NET = """
state { phase: TRAIN }
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "one" type: "BatchNorm" bottom: "x" top: "one" }
layer { name: "fixed" type: "BatchNorm" bottom: "one" top: "fixed"
        batch_norm_param { use_global_stats: true } }
layer { name: "relu" type: "ReLU" bottom: "fixed" top: "fixed" }
layer { name: "two" type: "BatchNorm" bottom: "fixed" top: "two" }
"""


def build():
    return Net(parse_text(NET, NetParameter()).message)


def test_layers_that_keep_statistics_are_found():
    assert [layer.name for layer in batch_norms(build())] == ["one", "two"]


def test_merged_statistics_are_the_means_of_all_ranks():
    def work(communicator):
        layers = batch_norms(build())
        blobs = [blob.data for layer in layers for blob in layer.blobs]
        for i, values in enumerate(blobs):
            values[...] = 10 * i + np.arange(values.size) + 3 * communicator.rank
        run(merge(layers, Port(communicator)))
        return [values.tolist() for values in blobs]

    sizes = [3, 3, 1] * 2
    want = [[10.0 * i + k + 3 for k in range(size)] for i, size in enumerate(sizes)]
    assert run_ranks(3, work) == [want] * 3
