"""pcd export --torch: what is written, told and refused; PyTorch's answers are made up."""

import numpy as np
import pytest

from pycaffe_dist.safetensors import read_safetensors
from pycaffe_dist.tools import export_torch

NET = """
name: "small"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "constant" value: 0.5 } } }
"""


@pytest.fixture
def net(tmp_path, monkeypatch):
    monkeypatch.delenv("PCD_TORCH_PYTHON", raising=False)
    monkeypatch.setattr(export_torch.importlib.util, "find_spec", lambda name: None)
    (tmp_path / "net.prototxt").write_text(NET)
    return tmp_path


def answers(scale):
    """What a PyTorch would say whose weights' gradients are ``scale`` times as large."""

    def run(code, state, given, python):
        x, w, d = given["in:data"], state["ip.weight"], given["of:ip"]
        grads = {"w:ip.weight": scale * d.T @ x, "w:ip.bias": d.sum(0), "in:data": d @ w}
        return {"out:ip": x @ w.T + state["ip.bias"], **grads}

    return run


def test_without_pytorch_it_is_written_and_told(call, net):
    done = call("export", "net.prototxt", "--torch", "small.py")
    assert done.returncode == 0, done.stderr
    assert "Not compared: PyTorch is not installed" in done.stdout
    assert done.stdout.endswith("small.py, small.safetensors: 8 values\n")
    state, about = read_safetensors("small.safetensors")
    np.testing.assert_array_equal(state["ip.weight"], np.full((2, 3), 0.5))
    assert about == {"format": "pt"}
    assert "class Small(nn.Module)" in (net / "small.py").read_text()


def test_what_agrees_is_written(call, net, monkeypatch):
    monkeypatch.setenv("PCD_TORCH_PYTHON", "python")
    monkeypatch.setattr(export_torch, "_run", answers(1))
    done = call("export", "net.prototxt", "--torch", "small.py")
    assert done.returncode == 0, done.stderr
    assert "outputs: largest difference" in done.stdout
    assert "gradients: largest difference" in done.stdout


def test_what_differs_is_not_written(call, net, monkeypatch):
    monkeypatch.setenv("PCD_TORCH_PYTHON", "python")
    monkeypatch.setattr(export_torch, "_run", answers(1.5))
    done = call("export", "net.prototxt", "--torch", "small.py")
    assert done.returncode == 1
    assert "something else than this net: w:ip.weight by 0.5" in done.stderr
    assert sorted(p.name for p in net.iterdir()) == ["net.prototxt"]


def test_a_pytorch_that_does_not_run_is_told(call, net, monkeypatch):
    (net / "python").write_text("#!/bin/sh\necho 'No module named torch' >&2\nexit 1\n")
    (net / "python").chmod(0o755)
    monkeypatch.setenv("PCD_TORCH_PYTHON", str(net / "python"))
    done = call("export", "net.prototxt", "--torch", "small.py")
    assert done.returncode == 1
    assert done.stderr.endswith("PyTorch cannot run the module: No module named torch\n")


@pytest.mark.parametrize("flags", [[], ["--torch", "a.py", "-o", "b.onnx"]])
def test_one_of_both_is_asked_for(call, net, flags):
    done = call("export", "net.prototxt", *flags)
    assert done.returncode == 2
    assert "give -o FILE.onnx or --torch FILE.py" in done.stderr
