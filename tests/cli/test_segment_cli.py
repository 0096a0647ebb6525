"""pcd segment: a net that tells colours apart, its drawings and its figures by hand."""

import json

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.loading import save_weights
from pycaffe_dist.net import Net
from pycaffe_dist.proto.nets import read_net

# Class 0 is dark, 1 blue, 2 green, 3 red; on a quarter of the pixels.
NET = """layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool"
  pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: "score" type: "Convolution" bottom: "pool" top: "score"
  convolution_param { num_output: 4 kernel_size: 1 } }
"""
ARGMAX = """layer { name: "best" type: "ArgMax" bottom: "score" top: "best"
  argmax_param { axis: 1 } }"""
FLAGS = ("--model", "net.prototxt", "--weights", "net.caffemodel")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    net = Net(read_net(tmp_path / "net.prototxt"))
    weights, bias = net.layers[-1].blobs
    weights.data[...] = np.eye(4, 3, -1)[:, :, None, None]
    bias.data[...] = [100, 0, 0, 0]
    save_weights(net, tmp_path / "net.caffemodel")
    (tmp_path / "img").mkdir()
    (tmp_path / "labels").mkdir()
    # Left red, right dark, 16 x 16; the truth: the upper half red, but for an ignored corner.
    picture = np.zeros((16, 16, 3), np.uint8)
    picture[:, :8, 0] = 255
    Image.fromarray(picture).save(tmp_path / "img" / "a.png")
    truth = np.zeros((16, 16), np.uint8)
    truth[:8] = 3
    truth[:4, :4] = 255
    labels = Image.fromarray(truth)
    labels.putpalette(bytes(range(256)) * 3)  # indices count, not what they look like
    labels.save(tmp_path / "labels" / "a.png")
    return tmp_path


def test_classes_and_overlay(call, folder):
    done = call("segment", "img", "out", *FLAGS, "--overlay", "over")
    assert (done.returncode, done.stdout) == (0, "out: the classes of 1 images\n"), done.stderr
    found = Image.open(folder / "out" / "a.png")
    assert found.mode == "P"
    want = np.zeros((16, 16))
    want[:, :8] = 3
    np.testing.assert_array_equal(np.asarray(found), want)
    assert found.convert("RGB").getpixel((0, 0)) == (128, 128, 0)  # VOC's third colour
    over = np.asarray(Image.open(folder / "over" / "a.png"))
    assert over[0, 0].tolist() == [round(0.4 * 255 + 0.6 * 128), round(0.6 * 128), 0]
    assert over[0, 15].tolist() == [0, 0, 0]


@pytest.mark.parametrize("end", ["", ARGMAX])
def test_figures(call, folder, end):
    """M = [[64, 64], [64, 48]] for the classes 0 and 3: 112 of 240 right."""
    (folder / "net.prototxt").write_text(NET + end)
    (folder / "names.txt").write_text("dark\nblue\ngreen\nred\n")
    done = call("segment", "img", "out", *FLAGS, "--truth", "labels", "--labels", "names.txt")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    dark, red = 64 / 192, 48 / 176
    mean = (dark + red) / 2
    assert lines[0] == ["class", "pixels", "IoU"]
    assert lines[1:4] == [
        ["dark", "128", f"{100 * dark:.2f}"],
        ["red", "112", f"{100 * red:.2f}"],
        ["mean", "240", f"{100 * mean:.2f}"],
    ]
    assert done.stdout.endswith(f"pixel accuracy 46.67 %, mIoU {100 * mean:.2f} %\n")
    (folder / "list.txt").write_text("img/a.png labels/a.png\n")
    found = json.loads(call("segment", "list.txt", "out", *FLAGS, "--json").stdout)
    assert found["accuracy"] == pytest.approx(112 / 240)
    assert found["mean_iou"] == pytest.approx(mean)
    assert [one["class"] for one in found["classes"]] == [0, 3]


def test_one_image_and_another_blob(call, folder):
    done = call("segment", "img/a.png", "a.png", *FLAGS, "--blob", "data", "--input-size", "0,0")
    assert done.returncode == 0, done.stderr
    assert np.asarray(Image.open(folder / "a.png"))[0, :8].tolist() == [2] * 8


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("img", "out", "--blob", "scor"), "there is no blob 'scor'; did you mean \"score\"?"),
        (("img", "img"), "is the image itself"),
        (("img", "out", "--truth", "img"), "is an image of the kind RGB; labels are a palette"),
        (("img", "out", "--truth", "labels", "--ignore-label", "1"), "has the label 255, the net"),
        (("labels", "out", "--truth", "other"), "has no labels of labels/a.png"),
        (("img", "out", "--truth", "small.png"), "small.png: is 2 × 3, its image 16 × 16"),
        (("none", "out"), "none: cannot be read"),
    ],
)
def test_what_is_wrong(call, folder, args, message):
    (folder / "other").mkdir()
    Image.new("L", (3, 2)).save(folder / "small.png")
    Image.new("L", (3, 2)).save(folder / "other" / "b.png")
    done = call("segment", *args, *FLAGS)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_net_without_scores_of_pixels(call, folder):
    (folder / "net.prototxt").write_text(
        NET + 'layer { name: "p" type: "Reduction" bottom: "score" top: "p" }'
    )
    done = call("segment", "img", "out", *FLAGS)
    assert "outputs with scores of pixels, (1, classes, height, width): none" in done.stderr
