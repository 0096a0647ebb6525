"""Whole nets trained for some steps with oneDNN and with NumPy."""

from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.engines import NUMPY, create
from pycaffe_dist.engines.onednn.core.remembered import CHOICES
from pycaffe_dist.layer import Context
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, SolverParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots

ENGINE = create("onednn")

MODELS = Path(__file__).parents[2] / "models"


def solver(model, engine, images, shape, classes, settings):
    """A solver for a model of ours, on made-up data."""
    net = read_net(MODELS / model / "train_val.prototxt").net
    kept = [layer for layer in net.layer if layer.type not in ("Data", "ImageData")]
    del net.layer[:]
    dims = "".join(f" dim: {d}" for d in shape)
    data = f"""
        name: "data" type: "FakeData" top: "data" top: "label"
        dummy_data_param {{
            shape {{ dim: {images}{dims} }} shape {{ dim: {images} }}
            data_filler {{ type: "gaussian" std: 1 }}
            data_filler {{ type: "integer" min: 0 max: {classes} }} }}"""
    net.layer.append(parse_text(data, LayerParameter()).message)
    net.layer.extend(kept)
    text = f'base_lr: 0.001 momentum: 0.9 weight_decay: 0.001 lr_policy: "fixed" {settings}'
    param = parse_text(text + " random_seed: 3 snapshot_after_train: false", SolverParameter())
    param.message.net_param.CopyFrom(net)
    return Solver(param.message, Context(engine=engine))


@pytest.mark.parametrize("settings", ["", "iter_size: 2"])
def test_resnet_20(settings):
    settings += " test_iter: 2 test_interval: 2 test_initialization: false max_iter: 4"
    ours, theirs = (
        solver("resnet20_cifar", engine, 3, (3, 32, 32), 10, settings) for engine in (ENGINE, NUMPY)
    )
    assert len(ours.net.fusions.chains) > 15
    assert len(ours.test_nets[0].fusions.chains) > 15
    begin = [param.blob.data.copy() for param in theirs.net.params.learnable]
    for one in (ours, theirs):
        one.step(4)
    assert ours.last_loss == pytest.approx(theirs.last_loss, rel=2e-3)
    learnable = zip(ours.net.params.learnable, theirs.net.params.learnable, begin, strict=True)
    for got, want, before in learnable:
        # Some ReLU is always so near to 0 that rounding decides on which side it is.
        allowed = 0.05 * float(np.abs(want.blob.data - before).max()) + 1e-6
        np.testing.assert_allclose(got.blob.data, want.blob.data, rtol=0, atol=allowed)
    for one in (ours, theirs):
        one.test_nets[0].forward()
    for i in ours.test_nets[0].output_ids:
        got, want = (one.test_nets[0].blobs[i].data for one in (ours, theirs))
        np.testing.assert_allclose(got, want, rtol=5e-3, atol=5e-3)


def test_going_on_is_exact_whatever_was_measured_since(tmp_path, monkeypatch):
    """The snapshot knows what computed: another choice would give other last digits."""
    monkeypatch.chdir(tmp_path)

    def make():
        prefix = 'max_iter: 9 snapshot_prefix: "run"'
        return solver("lenet", ENGINE, 8, (1, 28, 28), 10, prefix)

    with CHOICES.forced("blas"):
        whole, half = make(), make()
        whole.step(6)
        half = make()
        half.step(3)
        half.snapshot()
    (snapshot,) = snapshots.find("run")
    again = make()
    monkeypatch.setattr(CHOICES, "measuring", True)
    again.restore(snapshot.state)
    again.step(3)
    made = [c for layer in again.net.layers for c in getattr(layer, "chosen", list)()]
    assert {str(chosen) for chosen in made} == {"blas, given"}
    for one, two in zip(again.net.params.learnable, whole.net.params.learnable, strict=True):
        np.testing.assert_array_equal(one.blob.data, two.blob.data)
