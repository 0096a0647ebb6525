import numpy as np
import pytest

from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.sharing import share_activations
from pycaffe_dist.solver import Solver

NET = """
layer { name: "x" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 2 dim: 8 dim: 8 } shape { dim: 4 }
    data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "flat" type: "Flatten" bottom: "conv" top: "flat" }
layer { name: "ip" type: "InnerProduct" bottom: "flat" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy"
  include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""


def run(folder, shared):
    (folder / "net.prototxt").write_text(NET)
    text = (
        f'net: "{folder}/net.prototxt" base_lr: 0.1 lr_policy: "fixed" random_seed: 1 '
        "max_iter: 6 test_iter: 2 test_interval: 2 snapshot_after_train: false"
    )
    solver = Solver(parse_text(text, SolverParameter()).message)
    saved = share_activations(solver.test_nets[0], solver.net) if shared else 0
    tested = []
    solver.subscribers.append(tested.append)
    solver.solve()
    scores = [o.value for event in tested for o in getattr(event, "outputs", [])]
    weights = [p.blob.data.copy() for p in solver.net.params.learnable]
    return saved, scores, weights, solver


def test_numbers_are_the_same_and_memory_is_less(tmp_path):
    _, scores, weights, apart = run(tmp_path, shared=False)
    saved, shared_scores, shared_weights, together = run(tmp_path, shared=True)
    assert scores == shared_scores
    for a, b in zip(weights, shared_weights, strict=True):
        np.testing.assert_array_equal(a, b)
    assert saved >= 4 * 4 * 4 * 6 * 6  # the convolution's output at least

    def memory(solver):
        nets = [solver.net, *solver.test_nets]
        return {id(b.data_value): b.data_value.count for net in nets for b in net.blobs}

    assert sum(memory(together).values()) < sum(memory(apart).values())


@pytest.mark.parametrize("name", ["data", "label", "accuracy", "loss"])
def test_what_users_look_at_stays_apart(tmp_path, name):
    *_, solver = run(tmp_path, shared=True)
    test = solver.test_nets[0]
    theirs = {id(b.data_value) for b in solver.net.blobs}
    assert id(test.blobs[test.blob_ids[name]].data_value) not in theirs
