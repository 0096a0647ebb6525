"""The net of a run as a graph, and its parameters as numbers."""

import json

import numpy as np
import pytest
from made_runs import NET, line

from pycaffe_dist.board.net_view import BINS, blob_view, graph, layer_view
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.runs import Runs
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.pictures import data_uri, tiles
from pycaffe_dist.proto.caffe_pb2 import LayerParameter, NetParameter
from pycaffe_dist.proto.weights import write_weights


@pytest.fixture
def make(tmp_path):
    def run(net, **files):
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "metrics.jsonl").write_text(line(0, 1))
        (folder / "net.prototxt").write_text(net)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)
        runs = Runs(Places([str(tmp_path)]))
        runs.find()
        return runs.get("run")

    return run


SIZE = json.dumps({"input": [3, 12, 12]})


def test_sources_have_the_batch_of_the_net_and_the_size_the_run_remembers(make):
    said = graph(make(NET, transform__json=SIZE), {"conv": {"forward_ms": 3.5}})
    layers = {row["name"]: row for row in said["layers"]}
    assert list(layers) == ["images", "conv", "relu", "ip", "loss"]  # those of phase TRAIN
    assert layers["images"]["shapes"] == ["8x3x12x12", "8"]
    conv = layers["conv"]
    assert conv["forward_ms"] == 3.5 and "forward_ms" not in layers["ip"]
    assert (conv["params"], conv["shapes"]) == (112, ["8x4x10x10"])
    assert conv["bytes"] == 4 * 2 * 8 * 4 * 100  # data and diff
    assert said["name"] == "tiny <b>net</b>" and said["problem"] == ""
    assert said["params"] == sum(row["params"] for row in said["layers"])
    assert said["flops"] == sum(row["flops"] for row in said["layers"]) > 0
    shapes = {line["blob"]: line["shape"] for line in said["lines"]}
    assert shapes == {"data": "8x3x12x12", "conv": "8x4x10x10", "ip": "8x3", "label": "8"}
    ends = [(row["x"], row["y"]) for row in said["layers"]]
    assert len(set(ends)) == 5 and all(0 <= x <= said["width"] for x, _ in ends)


def test_what_computed_a_layer_and_how_its_parameters_travelled(make):
    rows = {"conv": {"forward_by": "winograd", "backward_by": "", "schemes": {"0": "sfb"}}}
    rows["ip"] = {"forward_by": "blas", "backward_by": "x" * 999}
    run = make(NET, transform__json=SIZE, layers__json=json.dumps({"layers": rows}))
    layers = {row["name"]: row for row in graph(run, {"conv": {"forward_ms": 1}})["layers"]}
    assert layers["conv"]["forward_by"] == "winograd" and "backward_by" not in layers["conv"]
    assert (layers["conv"]["scheme"], layers["conv"]["schemes"]) == ("sfb", {"0": "sfb"})
    assert len(layers["ip"]["backward_by"]) == 200 and "scheme" not in layers["ip"]
    assert "forward_by" not in layers["relu"]


@pytest.mark.parametrize("text", ["{", "[]", '{"layers": 3}', '{"layers": {"conv": 3}}', "null"])
def test_a_damaged_file_of_layers_costs_its_words_only(make, text):
    said = graph(make(NET, transform__json=SIZE, layers__json=text), {})
    assert len(said["layers"]) == 5 and said["problem"] == ""


def test_layers_that_work_in_place_stand_in_a_row(make):
    said = graph(make(NET, transform__json=SIZE), {})
    # images -> conv -> relu -> ip -> loss, and the label to the loss.
    assert sorted(line["blob"] for line in said["lines"]) == [
        *("conv", "conv", "data", "ip", "label")
    ]


def test_only_sources_of_data_are_given_the_size_of_images(make):
    net = """
      layer { name: "i" type: "Input" top: "i" input_param { shape { dim: 2 dim: 5 } } }
      layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 2 dim: 6 } } }
      layer { name: "p" type: "Parameter" top: "p" parameter_param { shape { dim: 7 } } }
      layer { name: "w" type: "ImageData" top: "w" image_data_param { batch_size: 9 } }
      layer { name: "h" type: "WindowData" top: "h" top: "l" }
    """
    said = graph(make(net, transform__json=SIZE), {})
    assert [row["shapes"] for row in said["layers"]] == [
        *(["2x5"], ["2x6"], ["7"], ["9x3x12x12"], ["1x3x12x12", "1"])
    ]


@pytest.mark.parametrize("facts", ["", "[1]", '{"input": ["x"]}', '{"input": 3}'])
def test_without_a_size_data_are_made_up(make, facts):
    said = graph(make(NET, transform__json=facts), {})
    assert said["layers"][0]["shapes"][0].startswith("8x") and said["problem"] == ""


def test_a_layer_that_cannot_be_built_has_a_note(make):
    net = NET.replace('bottom: "conv" top: "ip"', 'bottom: "none" top: "ip"')
    said = graph(make(net, transform__json=SIZE), {})
    notes = {row["name"]: row["note"] for row in said["layers"]}
    assert notes == {"images": "", "conv": "", "relu": "", "ip": "unknown", "loss": "unknown"}


def test_a_size_that_cannot_be_is_told_with_the_boxes(make):
    said = graph(make(NET, transform__json=json.dumps({"input": [3, 12, 10**19]})), {})
    assert len(said["layers"]) == 5 and said["problem"] and "params" not in said


# -- one layer -------------------------------------------------------------------------------------


def test_a_layer_has_its_text_and_the_newest_values(make):
    run = make(NET)
    said = layer_view(run, "ip")
    assert (said["name"], said["type"], said["blobs"]) == ("ip", "InnerProduct", [])
    assert "has no weights yet" in said["why"] and said["prototxt"].count("layer {") == 1
    for number in (9, 10):
        layers = [LayerParameter(name="other"), LayerParameter(name="ip", type="InnerProduct")]
        blobs = [np.full((3, 2), n, np.float32) for n in (7, number)]
        path = run.folder / f"s_iter_{number}.caffemodel"
        write_weights(path, NetParameter(layer=layers), [[b] for b in blobs])
    said = layer_view(run, "ip")
    assert said["weights"] == "s_iter_10.caffemodel" and "why" not in said
    assert [b["mean"] for b in said["blobs"]] == [10]
    with pytest.raises(NetError, match="the net has no layer 'none'"):
        layer_view(run, "none")


def test_a_run_without_a_net_has_none(make):
    run = make(NET)
    (run.folder / "net.prototxt").unlink()
    with pytest.raises(FileError, match=r"run: has no net.prototxt"):
        layer_view(run, "ip")


def test_numbers_of_a_parameter(make):
    values = np.array([[1, 2, 3], [4, np.nan, np.inf]], np.float32)
    said = blob_view(values)
    counts, edges = said.pop("counts"), said.pop("edges")
    assert said == {
        "shape": "2x3",
        "count": 6,
        "not_finite": 2,
        "low": 1,
        "high": 4,
        "mean": 2.5,
        "std": pytest.approx(1.118034),
    }
    assert len(counts) == BINS and len(edges) == BINS + 1 and sum(counts) == 4
    assert (edges[0], edges[-1], counts[0], counts[-1]) == (1, 4, 1, 1)
    assert blob_view(values[1:, 1:]) == {"shape": "1x2", "count": 2, "not_finite": 2}


@pytest.mark.parametrize(
    ("shape", "shown"),
    [((2, 3, 2, 2), (2, 3, 2, 2)), ((2, 4, 2, 2), (8, 2, 2)), ((2, 1, 2, 1), (2, 2, 1))],
)
def test_filters_that_are_images_are_shown(shape, shown):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    assert blob_view(values)["filters"] == data_uri(tiles(values.reshape(shown)))


@pytest.mark.parametrize("shape", [(4, 3, 1, 1), (4, 3), (2, 2, 2)])
def test_others_have_no_picture(shape):
    assert "filters" not in blob_view(np.ones(shape, np.float32))
