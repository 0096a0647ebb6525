"""A run's net on images, and what the page is told of it."""

import base64
import io
import json

import numpy as np
import pytest
from made_runs import line
from PIL import Image

from pycaffe_dist.board import predictor as predictor_module
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.predictor import Predictor, _enlarged, refuse_foreign
from pycaffe_dist.board.runs import Runs
from pycaffe_dist.data.drawing import palette
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.nets import read_net
from pycaffe_dist.proto.text import parse_text

SAME = 'layer { name: "same" type: "Power" bottom: "x" top: "y" }'
SUMS = """layer { name: "sums" type: "InnerProduct" bottom: "x" top: "y"
  inner_product_param { num_output: 7 weight_filler { type: "constant" value: 1 } } }"""


@pytest.fixture
def make(tmp_path):
    """The predictor of a run whose deployed net is ``net`` behind images of a shape."""

    def predictor(net, shape, labels="", **transform):
        folder = tmp_path / "run"
        folder.mkdir()
        dims = " ".join(f"dim: {d}" for d in (1, *shape))
        text = f'layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}'
        (folder / "deploy.prototxt").write_text(text + net)
        mean = transform.pop("mean", None)
        if mean is not None:
            np.save(folder / "mean.npy", mean)
            transform["mean_file"] = "mean.npy"
        facts = {"input": shape, "images_dim": shape[1:]} | transform
        (folder / "transform.json").write_text(json.dumps(facts))
        (folder / "labels.txt").write_text(labels)
        (folder / "metrics.jsonl").write_text(line(0, 1))
        made = Net(read_net(folder / "deploy.prototxt"))
        for i, blob in enumerate(b for layer in made.layers for b in layer.params):
            blob.data[...] = np.arange(blob.data.size).reshape(blob.shape) % 3 + i
        save_weights(made, folder / "x_iter_3.caffemodel")
        runs = Runs(Places([str(tmp_path)]))
        runs.find()
        return Predictor(runs.get("run"))

    return predictor


def encoded(pixels):
    """An image (height, width) or (height, width, 3), red first, as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file, "png")
    return file.getvalue()


def decoded(uri):
    """Pixels of a data URI, red first."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))))


# -- what the net is given -------------------------------------------------------------------------


def test_the_middle_of_an_image_is_taken_blue_first(make):
    found = make(SAME, (3, 2, 4), images_dim=[4, 8])
    image = np.arange(4 * 8 * 3).reshape(4, 8, 3)
    prepared = found.prepared(found.pixels(encoded(image)))
    np.testing.assert_array_equal(prepared, image[1:3, 2:6, ::-1].transpose(2, 0, 1))
    assert prepared.dtype == np.float32
    smaller = found.prepared(found.pixels(encoded(np.full((3, 3, 3), 9))))
    np.testing.assert_array_equal(smaller, np.full((3, 2, 4), 9))


def test_a_net_for_grey_images_gets_them_grey(make):
    found = make(SAME, (1, 2, 2))
    assert found.pixels(encoded(np.full((2, 2, 3), 7))).shape == (2, 2, 1)
    with pytest.raises(FileError, match="this is no image that can be read"):
        found.pixels(b"GIF")


PLANES = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
MEAN = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 2, 2)


@pytest.mark.parametrize(
    ("transform", "want"),
    [
        ({}, PLANES),
        ({"input_scale": 0.5}, PLANES * 0.5),
        ({"mean_value": [1, 2, 4]}, PLANES - np.float32([1, 2, 4])[:, None, None]),
        ({"mean": MEAN, "input_scale": 2.0}, (PLANES - MEAN) * 2),
    ],
    ids=lambda value: "+".join(value) or "plain" if isinstance(value, dict) else "",
)
def test_the_mean_goes_first_then_the_scale(make, transform, want):
    np.testing.assert_array_equal(make(SAME, (3, 2, 2), **transform).scaled(PLANES), want)


def test_a_batch_of_another_size_is_taken_whole(make):
    found = make(SUMS, (1, 2, 2))
    batch = np.arange(12, dtype=np.float32).reshape(3, 1, 2, 2)
    weights, bias = (blob.data for blob in found.net.layers[-1].params)
    assert np.ptp(weights) == 2 and bias[0] == 1  # those of the file, not of its filler
    np.testing.assert_allclose(found.forward(batch), batch.reshape(3, 4) @ weights.T + bias)
    assert found.forward(batch[:1]).shape == (1, 7)


# -- what the page is told -------------------------------------------------------------------------


def test_the_five_best_classes_by_name(make):
    found = make(SUMS, (1, 1, 1), labels="none\none\n")
    said = found.predict(encoded([[5]]))
    # Weights 0, 1, 2, 0, ..., biases 1, 2, 3, 1, ...
    scores = [11, 11, 6, 6, 1]
    assert said.pop("weights").endswith("x_iter_3.caffemodel")
    assert said == {
        "kind": "classes",
        "height": 1,
        "width": 1,
        "top": [
            {"label": label, "score": score + extra}
            for label, score, extra in zip(
                ["2", "5", "one", "4", "none"], scores, [2, 2, 1, 1, 0], strict=True
            )
        ],
    }


def test_labels_that_are_not_known_are_numbers(make):
    found = make(SAME, (1, 2, 2), labels="a\nb\n")
    assert [found.label(i) for i in (-1, 0, 1, 2)] == ["-1", "a", "b", "2"]


def test_boxes_by_score_without_those_that_are_unsure(make, monkeypatch):
    monkeypatch.setattr(predictor_module, "DETECTORS", ("Power",))
    found = make(SAME, (1, 4, 7), labels="cat\ndog\n", mean_value=[1], input_scale=0.1)
    rows = [
        [1, 1, 4, 2, 3, 4, 5],
        [1, 11, 10, 2, 3, 4, 5],
        [1, 0, 9] + [1] * 4,
        [1, 1, 3] + [1] * 4,
    ]
    said = found.predict(encoded(rows))
    assert said["kind"] == "boxes"
    at = pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert said["boxes"] == [
        {"label": "dog", "score": pytest.approx(0.9), "at": at},
        {"label": "cat", "score": pytest.approx(0.3), "at": at},
    ]


@pytest.mark.parametrize("channels", [1, 3])
def test_a_mask_is_laid_over_the_image(make, channels):
    # Two classes of pixels: grey, or what it lacks of 100.
    net = """
      layer { name: "all" type: "Convolution" bottom: "x" top: "g" convolution_param {
        num_output: 2 kernel_size: 1 } }"""
    found = make(net, (channels, 2, 2), labels="none\nthing\n")
    weights, bias = (blob.data for blob in found.net.layers[-1].params)
    weights[0], weights[1] = 1, -1
    bias[...] = 0, 100 * channels
    image = np.uint8([[0, 0, 200, 200]] * 4)
    if channels == 3:
        image = image[:, :, None].repeat(3, 2)
    said = found.predict(encoded(image))
    assert said["kind"] == "mask" and (said["height"], said["width"]) == (4, 4)
    colors = palette()[1]
    assert said["classes"] == [
        {"label": "none", "color": [0, 0, 0]},
        {"label": "thing", "color": colors.tolist()},
    ]
    shown = decoded(said["mask"])
    assert shown.shape == (4, 4, 3)
    assert (shown[:, 2:] == 200).all()
    np.testing.assert_array_equal(shown[0, 0], np.rint(colors / 2))


def test_classes_keep_their_places_when_they_are_enlarged():
    classes = np.uint8([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(_enlarged(classes, (4, 6, 3)), classes.repeat(2, 0).repeat(2, 1))
    np.testing.assert_array_equal(_enlarged(classes, (1, 3)), classes[:1])


def test_one_column_is_no_mask(make):
    assert make(SAME, (1, 1, 4)).kind == "classes"


def test_activations_of_a_layer_as_tiles(make):
    net = """layer { name: "both" type: "Convolution" bottom: "x" top: "c"
      convolution_param { num_output: 2 kernel_size: 1 } }"""
    found = make(net + SUMS.replace('"x"', '"c"'), (1, 2, 2))
    image = encoded([[0, 3], [1, 2]])
    shown = decoded(found.activations(image, "both"))
    # Weights 0 and 1: a plane of one value is black; the other has four greys, 12 pixels each.
    assert shown.shape[2] == 3 and (shown[1:25, 1:25] == 0).all()
    assert shown[1:25, 26:50, 0][::12, ::12].tolist() == [[0, 255], [85, 170]]
    flat = decoded(found.activations(image, "sums"))  # seven values, 3 pixels each
    sums = found.net.blobs[-1].data[0]
    want = (sums - sums.min()) * 255 / np.ptp(sums)
    np.testing.assert_allclose(flat[2, 2:-1:3, 0], want, atol=1)
    assert np.unique(want).size == 3
    with pytest.raises(NetError, match="the deployed net has no layer 'none'"):
        found.activations(image, "none")


# -- what is not run -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer", ['type: "Python" bottom: "x"', 'type: "HDF5Output" bottom: "x"', 'type: "Data"']
)
def test_layers_that_run_read_or_write_something_else_are_refused(layer):
    net = parse_text(f'layer {{ name: "l" {layer} }}', NetParameter()).message
    with pytest.raises(NetError, match=r'layer "l" \(\w+\): the board runs nets of plain layers'):
        refuse_foreign(net)


def test_what_a_layer_would_write_is_left_out():
    text = """layer { name: "i" type: "Input" }
      layer { type: "DetectionOutput" bottom: "x" detection_output_param {
        num_classes: 3 save_output_param { output_directory: "/" } } }
      layer { type: "Softmax" bottom: "x" detection_output_param { num_classes: 3 } }"""
    net = parse_text(text, NetParameter()).message
    refuse_foreign(net)
    kept = net.layer[1].detection_output_param
    assert kept.num_classes == 3 and not kept.HasField("save_output_param")
    assert not net.layer[2].HasField("detection_output_param")


@pytest.mark.parametrize("name", ["transform.json", "deploy.prototxt", "x_iter_3.caffemodel"])
def test_files_that_lie_elsewhere_are_not_read(make, tmp_path, tmp_path_factory, name):
    make(SAME, (1, 2, 2))
    runs = Runs(Places([str(tmp_path)]))
    runs.find()
    outside = tmp_path_factory.mktemp("outside") / name
    (tmp_path / "run" / name).rename(outside)
    (tmp_path / "run" / name).symlink_to(outside)
    with pytest.raises(FileError, match="lies outside"):
        Predictor(runs.get("run"))
