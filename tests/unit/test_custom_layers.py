"""The worked examples of docs/custom_layers.md, run as they stand there."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import pycaffe_dist as caffe
from pycaffe_dist.registry import LAYERS, layer_types

PAGE = (Path(__file__).parents[2] / "docs" / "custom_layers.md").read_text()
PROTOTXT = re.search(r"```\n(layer .*?)```", PAGE, re.S)[1]
PYTHON_LAYER, REGISTERED, TEST = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.fixture
def softplus(monkeypatch):
    monkeypatch.setitem(LAYERS, "Softplus", layer_types()["Softplus"])  # back in the end
    exec(compile(REGISTERED, "custom_layers.md", "exec"), {})


def test_python_layer(tmp_path, monkeypatch):
    (tmp_path / "mylayers.py").write_text(PYTHON_LAYER)
    (tmp_path / "net.prototxt").write_text(
        'force_backward: true input: "x" input_shape { dim: 2 dim: 3 }' + PROTOTXT
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        net = caffe.Net(str(tmp_path / "net.prototxt"), caffe.TRAIN)
        np.testing.assert_array_equal(net.forward(x=np.ones((2, 3)))["y"], 2 * np.ones((2, 3)))
        np.testing.assert_array_equal(net.backward(y=np.ones((2, 3)))["x"], 2 * np.ones((2, 3)))
    finally:
        sys.modules.pop("mylayers", None)


def test_registered_layer_and_its_test(softplus):
    exec(compile(TEST, "custom_layers.md", "exec"), {})


def test_registered_layer_in_a_net(softplus, tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(
        'input: "x" input_shape { dim: 3 } '
        'layer { name: "s" type: "Softplus" bottom: "x" top: "y" }'
    )
    net = caffe.Net(str(path), caffe.TEST)
    y = net.forward(x=np.array([0.0, 1.0, -50.0]))["y"]
    np.testing.assert_allclose(y, [np.log(2), np.log1p(np.e), 0], rtol=1e-6, atol=1e-6)
