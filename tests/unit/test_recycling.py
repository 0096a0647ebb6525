import numpy as np
import pytest

from pycaffe_dist import engines
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.recycling import recycle
from pycaffe_dist.solver import Solver

NET = """
layer { name: "x" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 16 dim: 2 dim: 16 dim: 16 } shape { dim: 16 }
    data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "a" type: "Convolution" bottom: "conv" top: "a" convolution_param {
  num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "b" type: "Convolution" bottom: "conv" top: "b" convolution_param {
  num_output: 8 kernel_size: 1 weight_filler { type: "xavier" } } }
layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "sum" }
layer { name: "pool" type: "Pooling" bottom: "sum" top: "pool"
  pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "flat" type: "Flatten" bottom: "pool" top: "flat" }
layer { name: "ip" type: "InnerProduct" bottom: "flat" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy"
  include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""


def run(folder, engine, recycled):
    (folder / "net.prototxt").write_text(NET)
    text = (
        f'net: "{folder}/net.prototxt" base_lr: 0.1 momentum: 0.9 lr_policy: "fixed" '
        "random_seed: 1 iter_size: 2 max_iter: 4 test_iter: 2 test_interval: 2 "
        "snapshot_after_train: false"
    )
    param = parse_text(text, SolverParameter()).message
    solver = Solver(param, Context(engine=engines.create(engine)))
    nets = [solver.net, *solver.test_nets]
    pool = recycle(nets) if recycled else None
    tested = []
    solver.subscribers.append(tested.append)
    solver.solve()
    scores = [o.value for event in tested for o in getattr(event, "outputs", [])]
    weights = [p.blob.data.copy() for p in solver.net.params.learnable]
    return pool, scores, weights, solver


@pytest.mark.parametrize("engine", ["numpy", "onednn"])
def test_numbers_are_the_same_and_memory_is_less(tmp_path, engine, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.engines.onednn.core.remembered.CHOICES.measuring", False)
    _, scores, weights, apart = run(tmp_path, engine, recycled=False)
    pool, recycled_scores, recycled_weights, _ = run(tmp_path, engine, recycled=True)
    assert scores == recycled_scores
    for a, b in zip(weights, recycled_weights, strict=True):
        np.testing.assert_array_equal(a, b)
    values = {
        id(v): v
        for net in (apart.net, *apart.test_nets)
        for blob in net.blobs
        for v in (blob.data_value, blob.diff_value)
    }
    apart_bytes = sum(room_of(v) for v in values.values() if not v.is_zero)
    assert 0 < pool.allocated < 0.8 * apart_bytes


def room_of(value):
    """Bytes of a value where it lies; blocks may have padding."""
    return max(home.size_of(value.count, value.dtype) for home in value.current)


def test_what_users_look_at_stays(tmp_path):
    *_, solver = run(tmp_path, "numpy", recycled=True)
    net = solver.test_nets[0]
    for name in ("data", "label", "accuracy", "loss"):
        assert not net.blobs[net.blob_ids[name]].data_value.is_zero, name
    assert net.blobs[net.blob_ids["sum"]].data_value.is_zero


def test_after_the_second_iteration_nothing_is_allocated(tmp_path):
    pool, *_, solver = run(tmp_path, "onednn", recycled=True)
    before = pool.allocated
    solver.step(3)
    solver.test_all()
    assert pool.allocated == before
