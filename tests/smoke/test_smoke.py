"""A minute's walk through the house in a few seconds: run it first."""

from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.cli import main
from pycaffe_dist.data.lmdb_writer import image_record, write_lmdb
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text

ROOT = Path(__file__).parents[2]
NET = """
    name: "smoke" state { phase: TRAIN }
    layer { name: "data" type: "Input" top: "data" top: "label"
            input_param { shape { dim: 8 dim: 1 dim: 12 dim: 12 } shape { dim: 8 } } }
    layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
            convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
    layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
            pooling_param { kernel_size: 2 stride: 2 } }
    layer { name: "relu" type: "ReLU" bottom: "pool" top: "pool" }
    layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
            inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""


@pytest.fixture
def net():
    caffe.set_random_seed(1)
    net = Net(parse_text(NET, NetParameter()).message, Context())
    blobs = dict(zip(net.blob_names, net.blobs, strict=True))
    blobs["data"].data[...] = np.random.default_rng(1).standard_normal(blobs["data"].shape)
    blobs["label"].data[...] = np.arange(8) % 3
    return net


def test_a_net_runs_forward_and_backward(net):
    loss = net.forward()
    net.backward()
    assert 0 < loss < 5
    assert all(np.abs(p.blob.diff).max() > 0 for p in net.params.learnable)


def test_a_few_steps_downhill_lower_the_loss(net):
    losses = []
    for _ in range(10):
        net.clear_param_diffs()
        losses.append(net.forward())
        net.backward()
        for p in net.params.learnable:
            p.blob.diff[...] *= 0.1
        net.update()
    assert losses[-1] < losses[0] - 0.1


def test_pycaffes_names(net):
    face = caffe.Net.of(net)
    assert face.inputs == ["data", "label"]
    assert face.outputs == ["loss"]
    assert face.forward()["loss"].shape == ()


@pytest.mark.parametrize("file", ["train_val", "deploy", "solver"])
def test_check_the_digits(file, tmp_path, monkeypatch, capsys):
    (tmp_path / "models").symlink_to(ROOT / "models")
    image = image_record("0", np.zeros((1, 28, 28), np.uint8), 0)
    for name in ("train", "test"):
        write_lmdb(tmp_path / f"data/digits/digits_{name}_lmdb", [image])
    monkeypatch.chdir(tmp_path)
    assert main(["check", f"models/digits/{file}.prototxt"]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("  ok\n")
    assert err == ""
    assert "431,080 parameters" in out
