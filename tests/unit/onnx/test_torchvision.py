"""Classification nets as torchvision has them, thin ones: graphs that torch.onnx 2.13 exported.

graphs/ has the models without the values of their weights, which are made up here; NAME_script is
by the exporter of TorchScript, NAME_dynamo by that of torch.export.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from read_models import agrees, read

from pycaffe_dist.proto.caffe_pb2 import NetParameter, SolverParameter
from pycaffe_dist.solver import Solver

GRAPHS = sorted((Path(__file__).parent / "graphs").glob("*.onnx"))
NETS = ["densenet121", "googlenet", "mobilenet_v2", "resnet18", "resnet50", "squeezenet", "vgg16"]


def with_weights(path, folder):
    """The model with random weights, with which values neither die out nor grow."""
    model, rng = onnx.load(path), np.random.default_rng(0)
    for tensor in model.graph.initializer:
        shape = tuple(tensor.dims)
        if tensor.data_type != onnx.TensorProto.FLOAT or not shape or tensor.raw_data:
            continue
        if len(shape) == 1:
            values = rng.uniform(0.5, 1, shape)
        else:
            head = 0.01 if len(shape) == 2 else 1  # so that no class is certain
            values = rng.standard_normal(shape) * head * np.sqrt(2 / np.prod(shape[1:]))
        tensor.raw_data = values.astype("<f4").tobytes()
    made = folder / path.name
    onnx.save(model, made)
    return made


def test_all_nets_of_both_exporters_are_here():
    assert {p.stem for p in GRAPHS} == {f"{n}_{how}" for n in NETS for how in ("script", "dynamo")}


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_it_is_read_and_computes_the_same(path, tmp_path):
    made = with_weights(path, tmp_path)
    net, model = read(made)
    agrees(made, net, model, limit=1e-4)


@pytest.mark.parametrize("name", NETS)
def test_it_trains(name, tmp_path):
    net, model = read(with_weights(GRAPHS[0].with_name(f"{name}_dynamo.onnx"), tmp_path))
    param = NetParameter()
    param.CopyFrom(net.net_param)
    param.ClearField("state")
    param.layer.add(name="label", type="DummyData", top=["label"]).dummy_data_param.shape.add(
        dim=[1]
    )
    param.layer.add(
        name="loss", type="SoftmaxWithLoss", bottom=[model.outputs[0], "label"], top=["loss"]
    )
    solver = SolverParameter(base_lr=1e-3, lr_policy="fixed", max_iter=2, random_seed=1)
    solver.train_net_param.CopyFrom(param)
    made = Solver(solver)
    for ours, theirs in zip(made.net.layers, net.layers, strict=False):
        assert ours.name == theirs.name
        for a, b in zip(ours.blobs, theirs.blobs, strict=True):
            a.data[...] = b.data
    data = made.net.blobs[made.net.blob_ids[model.inputs[0]]]
    data.data[...] = np.random.default_rng(1).standard_normal(data.shape)
    first = next(layer for layer in made.net.layers if layer.type == "Convolution").blobs[0]
    before = first.data.copy()
    made.step(2)
    assert np.isfinite(made.last_loss)
    assert (first.data != before).any()
