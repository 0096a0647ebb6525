from pathlib import Path

import numpy as np
import onnx
import pytest

NET = """
name: "small"
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 1 dim: 3 dim: 6 dim: 6 } } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param {
  num_output: 2 kernel_size: 3 weight_filler { type: "gaussian" std: 1 } } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
"""


@pytest.fixture
def model(call):
    Path("net.prototxt").write_text(NET)
    assert call("export", "net.prototxt", "-o", "m.onnx", "--dynamic", "batch").returncode == 0
    return "m.onnx"


def test_a_model_becomes_a_net_that_can_be_exported_again(call, model):
    said = call(
        "import", model, "-o", "back.prototxt", "--weights", "back.caffemodel", "--batch", 2
    )
    assert said.returncode == 0, said.stderr
    assert "c: largest difference" in said.stdout
    assert "back.prototxt: 3 layers; back.caffemodel: 56 parameters" in said.stdout
    assert call("check", "back.prototxt").returncode == 0
    again = call("export", "back.prototxt", "back.caffemodel", "-o", "again.onnx")
    assert again.returncode == 0, again.stderr
    arrays = [
        sorted(onnx.numpy_helper.to_array(t).tobytes() for t in onnx.load(name).graph.initializer)
        for name in (model, "again.onnx")
    ]
    assert arrays[0] == arrays[1]


def test_a_net_that_computes_something_else_is_not_written(call, model, monkeypatch):
    monkeypatch.setattr("pycaffe_dist.onnx.comparing.difference", lambda a, b: np.nan)
    said = call("import", model, "-o", "back.prototxt", "--weights", "back.caffemodel")
    assert said.returncode == 1
    assert "computes something else" in said.stderr
    assert not Path("back.prototxt").exists() and not Path("back.caffemodel").exists()


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["none.onnx"], 1, "none.onnx"),
        (["net.prototxt"], 1, "net.prototxt"),
        (["m.onnx", "--shape", "data"], 2, "is not INPUT=N,C,H,W"),
        (["m.onnx", "--shape", "data=1,2,6,6"], 1, "takes (2, 2, 3, 3) parameters"),
    ],
)
def test_what_is_wrong_is_said(call, model, flags, code, words):
    said = call("import", *flags, "-o", "back.prototxt", "--weights", "back.caffemodel")
    assert said.returncode == code
    assert words in said.stderr
    assert "Traceback" not in said.stderr
