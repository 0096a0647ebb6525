"""Detectors in the forms in which they come, on images whose boxes are known."""

import sys
from pathlib import Path

import numpy as np
import pytest

from pycaffe_dist.data.image import Color
from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.tools.detect_boxes import BoxDetector, drawings
from pycaffe_dist.tools.preprocess import Preprocess

sys.path.insert(0, str(Path(__file__).parent))
from detectors import DATA, EVALUATE, INPUT, picture, write_ssd, write_yolo


@pytest.fixture
def detector(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(size=None, **how):
        how = {"input_scale": 1 / 255, **how}
        return BoxDetector(Preprocess("deploy.prototxt", "net.caffemodel", **how), size)

    return make


def test_a_deployed_ssd(tmp_path, detector):
    write_ssd(tmp_path)
    net = detector()
    found = net.detect(picture((0, 1), (1, 0)), "p.png", 0.5)
    assert (found.name, found.size, net.color) == ("p.png", (40, 60), Color.COLOR)
    np.testing.assert_allclose(
        found.rows, [[1, 1, 30, 0, 60, 20], [1, 1, 0, 20, 30, 40]], atol=1e-3
    )
    assert net.detect(picture(), threshold=0.5).rows.shape == (0, 6)
    assert not (tmp_path / "o").exists()  # what the net would save is not saved


def test_the_best_come_first_and_a_threshold_cuts(tmp_path, detector):
    write_ssd(tmp_path)
    image = np.maximum(picture((0, 0), value=102), picture((1, 1), value=204))
    rows = detector().detect(image).rows
    np.testing.assert_allclose(rows[:2, 1], [0.8, 0.4], rtol=1e-5)
    assert len(detector().detect(image, threshold=0.5).rows) == 1


def test_a_test_net_has_its_preparation_in_its_data_layer(tmp_path, detector):
    write_ssd(tmp_path, DATA, EVALUATE)
    net = detector(input_scale=None)
    rows = net.detect(picture((0, 1)), threshold=0.5).rows
    np.testing.assert_allclose(rows, [[1, 0.8, 30, 0, 60, 20]], rtol=1e-5, atol=1e-3)
    rows = detector(input_scale=None, mean_value=(0, 0, 0)).detect(picture((0, 1))).rows
    np.testing.assert_allclose(rows[0, 1], 1, rtol=1e-5)  # what is asked for counts more


def test_padding_is_taken_off(tmp_path, detector):
    """FIT_LARGE_SIZE_AND_PAD: 40 x 20 pixels become 20 x 10, with 5 columns on each side."""
    fit = "resize_mode: FIT_LARGE_SIZE_AND_PAD"
    write_ssd(tmp_path, DATA.replace("resize_mode: WARP", fit))
    net = detector(input_scale=1 / 255, mean_value=(0, 0, 0))
    rows = net.detect(picture((0, 0), (0, 1), width=20), threshold=0.1).rows
    np.testing.assert_allclose(rows[:, 2:], [[0, 0, 10, 20], [10, 0, 20, 20]], atol=1e-3)


def test_yolo(tmp_path, detector):
    write_yolo(tmp_path)
    rows = detector().detect(picture((1, 1)), threshold=0.5).rows
    np.testing.assert_allclose(rows, [[1, 1, 30, 20, 60, 40]], atol=1e-2)


def test_channels_in_another_order_and_raw_scale(tmp_path, detector):
    write_ssd(tmp_path)
    blue = picture((0, 0))[:, :, ::-1]
    assert len(detector().detect(blue, threshold=0.5).rows) == 0
    swapped = detector(channel_swap=(0, 1, 2), input_scale=None, raw_scale=1.0)
    np.testing.assert_allclose(swapped.detect(blue).rows[0, :2], [1, 1], rtol=1e-5)


@pytest.mark.parametrize("size", [(40, 40), (0, 0)])
def test_inputs_of_another_size(tmp_path, detector, size):
    write_ssd(tmp_path)
    net = detector(size)
    rows = net.detect(picture((0, 1), height=40, width=40), threshold=0.5).rows
    assert net.input.shape == (1, 3, 40, 40)
    assert len(rows) == 4  # cells of 10 pixels
    assert rows[:, 2].min() == 20


@pytest.mark.parametrize(
    ("net", "how", "message"),
    [
        (INPUT, {}, r"has no layer that gives boxes \(DetectionOutput, Yolo"),
        (INPUT.replace("dim: 20 dim: 20", ""), {}, "images need an input of 4 axes"),
        (INPUT, {"mean_value": (1, 2)}, "the mean has 2 values, images have 3"),
        ("", {}, "has no layer that brings images in"),
    ],
)
def test_what_is_refused(tmp_path, detector, net, how, message):
    write_ssd(tmp_path)
    (tmp_path / "deploy.prototxt").write_text(
        net + 'layer { name: "p" type: "Power" bottom: "data" top: "p" }'
    )
    with pytest.raises(NetError, match=message):
        detector(**how)


def test_where_drawings_go(tmp_path):
    one = tmp_path / "a.png"
    one.write_bytes(b"")
    assert drawings([str(one)], str(tmp_path / "b.png")) == [str(tmp_path / "b.png")]
    into = str(tmp_path / "new")
    assert drawings(["x/a.jpg", "b.png"], into) == [f"{into}/a.png", f"{into}/b.png"]
    with pytest.raises(FileError, match="2 images need a folder"):
        drawings(["a.jpg", "b.jpg"], str(tmp_path / "b.png"))
    with pytest.raises(FileError, match="2 images of that name"):
        drawings(["x/a.jpg", "y/a.jpg"], into)
    for output in (str(one), str(tmp_path)):
        with pytest.raises(FileError, match="is the image itself"):
            drawings([str(one)], output)
