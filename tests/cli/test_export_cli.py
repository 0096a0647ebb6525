import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from PIL import Image

from pycaffe_dist.cli import main
from pycaffe_dist.onnx.check import run_onnx
from pycaffe_dist.tools import export

DIGITS = Path(__file__).parents[2] / "models" / "digits" / "deploy.prototxt"
FILLED = """
layer {{ name: "data" type: "Input" top: "data"
  input_param {{ shape {{ dim: 1 dim: 3 dim: 6 dim: 6 }} }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param {{ num_output: 2 weight_filler {{ type: "gaussian" std: {std} }} }} }}
"""


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.prototxt"
    path.write_text(FILLED.format(std=1))
    return path


def test_a_net_is_written_and_the_difference_told(call, net):
    said = call("export", net, "-o", "net.onnx", "--table")
    assert said.returncode == 0, said.stderr
    assert "ip: Reshape, Gemm" in said.stdout
    assert "ip: largest difference" in said.stdout
    assert "No weights are given" in said.stderr
    model = onnx.load("net.onnx")
    assert model.opset_import[0].version == 17  # unless asked for another
    about = {prop.key: prop.value for prop in model.metadata_props}
    assert about["source"] == str(net)
    found = run_onnx(Path("net.onnx"), {"data": np.ones((1, 3, 6, 6), np.float32)})
    assert found["ip"].shape == (1, 2)


def test_a_file_that_computes_something_else_is_not_written(call, net, monkeypatch):
    Path("net.onnx").write_text("before")
    monkeypatch.setattr("pycaffe_dist.onnx.comparing.difference", lambda ours, theirs: 0.25)
    said = call("export", net, "-o", "net.onnx")
    assert said.returncode == 1
    assert "ip by 0.25 of the largest value, more than 0.0001" in said.stderr
    assert Path("net.onnx").read_text() == "before"
    assert sorted(os.listdir()) == ["net.onnx", "net.prototxt"]
    assert call("export", net, "-o", "net.onnx", "--tolerance", "0.3").returncode == 0


def test_labels_images_and_changing_batches(call, net):
    Path("labels.txt").write_text("cat\ndog\n")
    said = call(
        *("export", net, "-o", "net.onnx", "--labels", "labels.txt", "--preprocess"),
        *("--mean-value", "104,117,123", "--dynamic", "batch", "--opset", "13"),
    )
    assert said.returncode == 0, said.stderr
    model = onnx.load("net.onnx")
    assert model.opset_import[0].version == 13
    assert {prop.key: prop.value for prop in model.metadata_props}["labels"] == "cat\ndog"
    images = np.zeros((3, 20, 10, 3), np.uint8)
    assert run_onnx(Path("net.onnx"), {"image": images})["ip"].shape == (3, 2)


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["--opset", "9"], 1, "opset 9 is not supported"),
        (["--dynamic", "data:x"], 2, "is none of batch, image and INPUT:AXIS,AXIS"),
        (["--labels", "none.txt"], 1, "none.txt"),
        (["none.caffemodel"], 1, "none.caffemodel"),
        (["--try-image", "none.png"], 1, "none.png"),
        (["--dynamic", "image"], 1, "its weights are for 108 inputs"),
    ],
)
def test_what_is_wrong_is_said(call, net, flags, code, words):
    said = call("export", net, "-o", "net.onnx", *flags)
    assert said.returncode == code
    assert words in said.stderr
    assert not Path("net.onnx").exists()


def test_without_onnx_the_command_that_brings_it_is_said(call, net, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    said = call("export", net, "-o", "net.onnx")
    assert said.returncode == 1
    assert "Exporting to ONNX needs the Python module 'onnx'" in said.stderr
    assert "pip install" in said.stderr


def test_help_needs_no_onnx(capsys):
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    assert "--preprocess" in capsys.readouterr().out


@pytest.mark.parametrize("within", [False, True])
def test_an_image_is_compared_too(call, net, monkeypatch, within):
    seen = []

    def run(path, inputs):
        seen.append(inputs)
        return run_onnx(Path(path), inputs)

    monkeypatch.setattr(export, "run_apart", run)
    Image.fromarray(np.full((12, 12, 3), (10, 20, 30), np.uint8)).save("image.png")
    flags = ["--mean-value", "1,2,3", "--input-scale", "0.5"] + ["--preprocess"] * within
    said = call("export", net, "-o", "net.onnx", "--try-image", "image.png", *flags)
    assert said.returncode == 0, said.stderr
    noise, image = [next(iter(inputs.values())) for inputs in seen]
    assert noise.shape == image.shape
    if within:
        assert image.dtype == np.uint8
        assert image[0, 2, 2].tolist() == [10, 20, 30]
    else:  # blue first
        assert image[0, :, 2, 2].tolist() == [14.5, 9, 3.5]


def test_values_beyond_half_precision_are_told(call, net):
    net.write_text(FILLED.format(std=3e4))
    said = call("export", net, "-o", "net.onnx", "--fp16")
    assert said.returncode == 1
    assert "Its values are too large for half precision. Nothing was written" in said.stderr


def test_an_image_for_a_net_of_something_else_is_refused(call, net):
    Image.fromarray(np.zeros((6, 6, 3), np.uint8)).save("image.png")
    net.write_text(net.read_text().replace("dim: 3", "dim: 5"))
    said = call("export", net, "-o", "net.onnx", "--try-image", "image.png")
    assert said.returncode == 1
    assert "this takes data (1, 5, 6, 6)" in said.stderr
    assert not Path("net.onnx").exists()


# -- large files ----------------------------------------------------------------------------------

BATCHED = """
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 10 dim: 3 dim: 6 dim: 6 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 40 kernel_size: 3 weight_filler { type: "gaussian" std: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "gaussian" std: 1 } } }
"""
RESHAPED = """
layer { name: "again" type: "Reshape" bottom: "ip" top: "again"
  reshape_param { shape { dim: 5 dim: 4 } } }
"""


@pytest.fixture
def batches(monkeypatch):
    """The sizes of the batches that ONNX Runtime is given, with files that count as large."""
    seen = []
    monkeypatch.setattr(export, "LARGE", 0)
    real = export.run_apart
    monkeypatch.setattr(
        export, "run_apart", lambda path, fed: seen.append(len(fed["data"])) or real(path, fed)
    )
    return seen


def test_large_files_are_compared_item_by_item(call, batches):
    Path("net.prototxt").write_text(BATCHED)
    said = call("export", "net.prototxt", "-o", "net.onnx")
    assert said.returncode == 0, said.stderr
    assert batches == [1]
    assert sorted(os.listdir()) == ["net.onnx", "net.prototxt"]
    found = run_onnx(Path("net.onnx"), {"data": np.ones((10, 3, 6, 6), np.float32)})
    assert found["ip"].shape == (10, 2)


def test_those_that_need_their_batch_have_it(call, batches):
    Path("net.prototxt").write_text(BATCHED + RESHAPED)
    said = call("export", "net.prototxt", "-o", "net.onnx")
    assert said.returncode == 0, said.stderr
    assert batches == [10]


def test_wrong_values_in_a_large_file_are_noticed(call, batches, monkeypatch):
    """What is compared are the bytes of the file itself."""
    real = export.write_model

    def damaged(made, file):
        written = real(made, file)
        file.seek(written.places["conv/weight"])
        file.write(np.full(9, 100, np.float32).tobytes())
        file.seek(0, os.SEEK_END)
        return written

    monkeypatch.setattr(export, "write_model", damaged)
    Path("net.prototxt").write_text(BATCHED)
    said = call("export", "net.prototxt", "-o", "net.onnx")
    assert said.returncode == 1
    assert "computes something else" in said.stderr
    assert sorted(os.listdir()) == ["net.prototxt"]
