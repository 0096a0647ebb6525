"""``pcd tune`` and what ``pcd time`` shows of the choices, on a net of its own."""

import json

import pytest

from pycaffe_dist.cli import main
from pycaffe_dist.engines.base import set_default_engine
from pycaffe_dist.engines.choice import Choices
from pycaffe_dist.engines.onednn.core import remembered, weighted

NET = """
name: "small"
layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 2 dim: 8 dim: 6 dim: 6 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
        inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "sum" type: "Reduction" bottom: "ip" top: "sum" loss_weight: 1 }
"""


@pytest.fixture
def net(tmp_path, monkeypatch):
    """Its file, with choices of its own kept beside it; every race is settled for the first."""
    choices = Choices(tmp_path / "cache" / "choices.json")
    for module in (remembered, weighted):
        monkeypatch.setattr(module, "CHOICES", choices)
    monkeypatch.setattr("pycaffe_dist.engines.race.MARGIN", float("inf"))
    (tmp_path / "net.prototxt").write_text(NET)
    yield str(tmp_path / "net.prototxt")
    set_default_engine(None)


def test_tune_measures_what_training_and_testing_need(net, capsys):
    assert main(["tune", net, "--engine", "onednn"]) == 0
    printed = capsys.readouterr().out
    for what in ("Convolution gather", "Convolution weights", "InnerProduct spread"):
        assert what in printed
    read = json.loads(remembered.CHOICES.path.read_text())["choices"]
    assert f"{len(read)} choices, kept in {remembered.CHOICES.path}" in printed
    assert all(entry["ms"][entry["name"]] > 0 for entry in read.values())

    assert main(["tune", "--list", "--engine", "onednn"]) == 0
    listed = capsys.readouterr().out
    assert all(case in listed for case in read)
    assert main(["tune", "--clear", "--engine", "onednn"]) == 0
    assert f"{len(read)} choices forgotten" in capsys.readouterr().out
    assert not remembered.CHOICES.path.exists()


def test_time_tells_what_computes_each_layer_and_how_it_was_found(net, capsys, monkeypatch):
    command = ["time", "-model", net, "-iterations", "2", "--engine", "onednn", "--json"]
    assert main(command) == 0
    conv, relu = by_name(capsys, "conv", "relu")
    assert conv["forward_by"].endswith(", measured")
    assert conv["backward_by"].endswith(", measured")
    assert relu["forward_by"] == "onednn"
    remembered.CHOICES.save()
    again = Choices(remembered.CHOICES.path)
    for module in (remembered, weighted):
        monkeypatch.setattr(module, "CHOICES", again)
    assert main(command) == 0
    (conv_again,) = by_name(capsys, "conv")
    assert conv_again["forward_by"] == conv["forward_by"].replace("measured", "remembered")
    assert main([*command[:-3], "--engine", "numpy", "--json"]) == 0
    assert by_name(capsys, "conv")[0]["forward_by"] == "numpy"


def by_name(capsys, *names):
    layers = {layer["name"]: layer for layer in json.loads(capsys.readouterr().out)["layers"]}
    return [layers[name] for name in names]


def test_nothing_is_measured_while_layers_are_timed(net, monkeypatch, capsys):
    from pycaffe_dist import caffe_log

    lines = []
    monkeypatch.setattr(caffe_log, "info", lambda place, text, *args: lines.append(text % args))
    picked, pick = [], Choices.pick
    monkeypatch.setattr(
        Choices, "pick", lambda self, *args: (picked.append(len(lines)), pick(self, *args))[1]
    )
    assert main(["time", "-model", net, "-iterations", "1", "--engine", "onednn"]) == 0
    assert picked
    assert max(picked) <= lines.index("*** Benchmark begins ***")


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        ([], 2, "give a net to measure"),
        (["--list", "--engine", "numpy"], 1, "nothing to measure"),
        (["no.prototxt", "--engine", "onednn"], 1, "no.prototxt"),
    ],
)
def test_what_cannot_be_measured(net, args, code, text, capsys):
    try:
        assert main(["tune", *args]) == code
    except SystemExit as e:
        assert e.code == code
    assert text in capsys.readouterr().err
