"""Images with labels for every pixel: what is done to one is done to the other."""

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed

SIZES = [(12, 16), (12, 16), (12, 16)]


@pytest.fixture
def folder(tmp_path):
    """Images whose blue is the label of the pixel, 10 + column, and red the number of the image."""

    def make(sizes=SIZES, words=None):
        lines = []
        for i, (height, width) in enumerate(sizes):
            labels = np.broadcast_to(10 + np.arange(width, dtype=np.uint8), (height, width))
            image = np.stack([np.full_like(labels, i), np.zeros_like(labels), labels], axis=2)
            Image.fromarray(image).save(tmp_path / f"{i}.png")
            Image.fromarray(np.ascontiguousarray(labels)).save(tmp_path / f"{i}_labels.png")
            lines.append(f"{i}.png {words[i] if words else f'{i}_labels.png'}\n")
        (tmp_path / "list.txt").write_text("".join(lines))
        return tmp_path

    return make


def build(folder, kind, settings="", transform="", tops=2, phase=TEST, dry=False):
    message = "dense_image_data_param" if kind == "DenseImageData" else "image_data_param"
    names = " ".join(f'top: "{name}"' for name in ("data", "label", "dims")[:tops])
    text = f"""layer {{ name: "d" type: "{kind}" {names} transform_param {{ {transform} }}
        {message} {{ source: "{folder}/list.txt" root_folder: "{folder}/" {settings} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(dry=dry))


def forward(net):
    net.forward()
    return [blob.data.copy() for blob in net.blobs]


def agree(data, labels, least=10):
    """Every pixel's blue is its label, but where both are filling."""
    known = labels[:, 0] >= least
    np.testing.assert_array_equal(data[:, 0][known], labels[:, 0][known])
    return known


@pytest.mark.parametrize("kind", ["ImageSegData", "DenseImageData"])
@pytest.mark.parametrize("crop", ["", "crop_height: 6 crop_width: 9"])
def test_labels_go_with_their_image(folder, kind, crop):
    """Cropped at random places and mirrored, both."""
    set_random_seed(2)
    own = kind == "DenseImageData"
    settings = "batch_size: 3 " + ("" if not own else f"mirror: true {crop}")
    settings += "" if own else " label_type: PIXEL"
    net = build(folder(), kind, settings, "" if own else f"mirror: true {crop}", phase=TRAIN)
    firsts = set()
    for _ in range(4):
        data, labels = forward(net)
        assert labels.shape == (3, 1, *((6, 9) if crop else (12, 16)))
        assert agree(data, labels).all()
        np.testing.assert_array_equal(data[:, 2, 0, 0], [0, 1, 2])
        firsts |= set(labels[:, 0, 0, 0])
    assert len(firsts) > (2 if crop else 1)


def test_dense_crops_at_random_in_test_too(folder):
    set_random_seed(5)
    net = build(folder(), "DenseImageData", "batch_size: 3 crop_height: 6 crop_width: 9")
    assert len({float(first) for _ in range(3) for first in forward(net)[1][:, 0, 0, 0]}) > 2


def test_scales_filling_and_sizes(folder):
    """What is smaller than the crop is filled up; the third top has the sizes as they were."""
    set_random_seed(1)
    net = build(
        folder([(12, 16), (30, 8), (5, 40)]),
        "ImageSegData",
        "batch_size: 3 label_type: PIXEL ignore_label: 3",
        "crop_size: 20 mean_value: 7 mean_value: 8 mean_value: 9",
        tops=3,
    )
    data, labels, dims = forward(net)
    np.testing.assert_array_equal(dims.reshape(3, 2), [[12, 16], [20, 8], [5, 20]])
    known = agree(data + np.array([7, 8, 9]).reshape(3, 1, 1), labels)
    assert (labels[:, 0][~known] == 3).all() and not data[:, 1][~known].any()
    np.testing.assert_array_equal(known.sum((1, 2)), [12 * 16, 20 * 8, 5 * 20])


def test_a_scale_is_drawn_for_every_image(folder):
    set_random_seed(1)
    transform = "crop_size: 40 scale_factors: 0.5 scale_factors: 2"
    net = build(folder(), "ImageSegData", "batch_size: 3 label_type: PIXEL", transform)
    found = [(forward(net)[1][:, 0] != 255).sum((1, 2)) for _ in range(4)]
    assert set(np.concatenate(found)) == {6 * 8, 24 * 32}


@pytest.mark.parametrize(("label_type", "want"), [("IMAGE", [4, 5, 6]), ("NONE", [255, 255, 255])])
def test_labels_of_whole_images(folder, label_type, want):
    net = build(folder(words=[4, 5, 6]), "ImageSegData", f"batch_size: 3 label_type: {label_type}")
    labels = forward(net)[1]
    assert (labels == np.array(want).reshape(3, 1, 1, 1)).all()


def test_new_sizes_do_not_mix_labels(folder):
    net = build(folder(), "DenseImageData", "batch_size: 3 new_height: 30 new_width: 41")
    labels = forward(net)[1]
    assert set(np.unique(labels)) == set(range(10, 26))


def test_label_maps_are_0_or_1(folder):
    path = folder([(4, 6)])
    plane = np.array([[0, 100, 127, 128, 200, 255]] * 4, np.uint8)
    Image.fromarray(plane).save(path / "0_labels.png")
    labels = forward(build(path, "ImageLabelmapData", "batch_size: 1"))[1]
    np.testing.assert_array_equal(labels[0, 0, 0], [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("kind", "settings", "transform", "message"),
    [
        ("ImageSegData", "label_type: PIXEL", 'mean_file: "m"', "no mean_file"),
        ("ImageSegData", "", "", "the label '0_labels.png' of 0.png is no class"),
        ("ImageSegData", "label_type: PIXEL", "scale_factors: 0", "scale_factors must be above 0"),
        ("DenseImageData", "batch_size: 1", "mirror: true", "takes mirror, crop_height"),
        ("DenseImageData", "batch_size: 1 crop_height: 3", "", "both crop_h and crop_w"),
        ("DenseImageData", "batch_size: 1 crop_height: 20 crop_width: 20", "", "is smaller than"),
    ],
)
def test_what_is_refused(folder, kind, settings, transform, message):
    with pytest.raises(NetError, match=message):
        forward(build(folder(), kind, settings, transform))


def test_labels_of_another_size_are_told(folder):
    path = folder([(12, 16)])
    Image.fromarray(np.zeros((3, 4), np.uint8)).save(path / "0_labels.png")
    with pytest.raises(NetError, match=r"0_labels.png: is 3 × 4, its image 0.png 12 × 16"):
        forward(build(path, "DenseImageData", "batch_size: 1"))


def test_a_dry_net_needs_no_files():
    net = build("nowhere", "ImageSegData", "batch_size: 2", "crop_size: 30", tops=3, dry=True)
    assert [b.shape for b in net.blobs] == [(2, 3, 30, 30), (2, 1, 30, 30), (2, 1, 1, 2)]
