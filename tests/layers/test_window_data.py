import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.image import read_image
from pycaffe_dist.data.window_file import Window, warp
from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.rng import draw, set_random_seed

CROP = 6


@pytest.fixture
def windows(tmp_path):
    """Two images, three foreground and two background windows, one between the thresholds."""
    pixels = np.random.default_rng(0).integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)
    for i, image in enumerate(pixels):
        Image.fromarray(image).save(tmp_path / f"{i}.png")
    (tmp_path / "windows.txt").write_text(
        "# 0\n0.png\n3\n20\n30\n4\n1 0.9 0 0 9 9\n2 0.5 5 5 14 19\n7 0.3 0 0 1 1\n3 0.1 2 3 12 13\n"
        "# 1\n1.png\n3\n20\n30\n2\n4 1.0 20 10 29 19\n9 0 3 3 8 8\n"
    )
    return tmp_path


def build(folder, settings="", transform="", crop=CROP, **context):
    text = f"""layer {{ name: "w" type: "WindowData" top: "data" top: "label"
        transform_param {{ crop_size: {crop} {transform} }}
        window_data_param {{ source: "{folder}/windows.txt" root_folder: "{folder}/" batch_size: 8
          bg_threshold: 0.2 {settings} }} }}"""
    return Net(parse_text(text, NetParameter()).message, Context(**context))


def forward(net):
    net.forward()
    return [blob.data.copy() for blob in net.blobs]


FG = [
    Window(0, 1, 0, 0, 9, 9),
    Window(0, 2, 5, 5, 14, 19),
    Window(1, 4, 20, 10, 29, 19),
]
BG = [Window(0, 0, 2, 3, 12, 13), Window(1, 0, 3, 3, 8, 8)]


def expected(folder, seed, fg=2, batch=8, mirrors=False, pad=0, square=False):
    """The batch by the draws that the layer makes: a window, then a mirror."""
    seeds = np.random.RandomState(seed).randint(0, 1 << 32, 2, dtype=np.uint32)
    rng = np.random.RandomState(seeds[1 if mirrors else 0])

    def raw():
        return int(rng.randint(0, 1 << 32, dtype=np.uint32))

    data, labels = np.zeros((batch, 3, CROP, CROP), np.float32), []
    for i in range(batch):
        among = BG if i < batch - fg else FG
        window = among[raw() % len(among)]
        mirror = mirrors and raw() % 2 == 1
        image = read_image(f"{folder}/{window.image}.png")
        part, row, column = warp(image, window, CROP, pad, square, mirror)
        h, w = part.shape[:2]
        data[i, :, row : row + h, column : column + w] = part.transpose(2, 0, 1)
        labels.append(window.label)
    return data, labels


def test_background_then_foreground(windows):
    set_random_seed(7)
    data, labels = forward(build(windows))
    want, want_labels = expected(windows, 7)
    np.testing.assert_array_equal(data, want)
    assert labels.tolist() == want_labels
    assert labels[:6].tolist() == [0] * 6 and (labels[6:] > 0).all()


def test_mirrored_context_in_a_square(windows):
    # With a mirror the transformer draws a seed before the layer does.
    set_random_seed(8)
    settings = 'context_pad: 1 crop_mode: "square" fg_fraction: 0.5'
    net = build(windows, settings, "mirror: true")
    data, labels = forward(net)
    want, want_labels = expected(windows, 8, fg=4, mirrors=True, pad=1, square=True)
    np.testing.assert_array_equal(data, want)
    assert labels.tolist() == want_labels
    assert (data == 0).any()  # some window reaches beyond its image


def test_the_global_generator_is_drawn_from_in_caffes_order(windows):
    set_random_seed(3)
    build(windows, transform="mirror: true")
    # transformer, windows, transformer again, reading thread
    after = np.random.RandomState(3).randint(0, 1 << 32, 5, dtype=np.uint32)[-1]
    assert draw() == after


def test_cached_images_are_the_same(windows):
    set_random_seed(7)
    plain = forward(build(windows))
    set_random_seed(7)
    net = build(windows, "cache_images: true")
    (windows / "0.png").unlink()
    np.testing.assert_array_equal(forward(net)[0], plain[0])


def test_scale_is_its_own_and_the_mean_is_transform_params(windows):
    set_random_seed(7)
    data, _ = forward(build(windows, "scale: 0.5", "scale: 100 mean_value: [1, 2, 3]"))
    want, _ = expected(windows, 7)
    mean = np.array([1, 2, 3], np.float32)[:, None, None]
    np.testing.assert_array_equal(data, (want - mean) * np.float32(0.5))


def test_the_middle_of_a_mean_image(windows):
    mean = np.random.default_rng(1).random((1, 3, 12, 10), np.float32)
    write_binaryproto(windows / "mean", mean)
    set_random_seed(7)
    data, _ = forward(build(windows, transform=f'mean_file: "{windows}/mean"'))
    want, _ = expected(windows, 7)
    np.testing.assert_array_equal(data, want - mean[0, :, 2:8, 2:8])


def test_outside_of_the_image_stays_0_whatever_the_mean(windows):
    set_random_seed(7)
    data, _ = forward(build(windows, 'context_pad: 2 crop_mode: "warp"', "mean_value: 1000"))
    want, _ = expected(windows, 7, pad=2)
    outside = data == 0
    assert outside.any()
    np.testing.assert_array_equal(data[~outside], want[~outside] - 1000)


@pytest.mark.parametrize(
    ("settings", "transform", "message"),
    [
        ("batch_size: 0", "", "batch_size must be positive"),
        ("fg_threshold: 2", "", "there is no foreground window"),
        ("bg_threshold: -1", "", "there is no background window"),
        ("context_pad: 3", "", "context_pad 3 leaves nothing of crop_size 6"),
        ("", "mean_value: [1, 2]", "2 mean_value for 3 channels"),
        ('root_folder: "no/"', "", "no/.*cannot be read"),
    ],
)
def test_refuses(windows, settings, transform, message):
    for given in ("batch_size: 8", "bg_threshold: 0.2", f'root_folder: "{windows}/"'):
        if given.split(":")[0] not in settings:
            settings += f" {given}"
    text = f"""layer {{ name: "w" type: "WindowData" top: "data" top: "label"
        transform_param {{ crop_size: 6 {transform} }}
        window_data_param {{ source: "{windows}/windows.txt" {settings} }} }}"""
    with pytest.raises(NetError, match=f'layer "w" .WindowData.: .*{message}'):
        Net(parse_text(text, NetParameter()).message).forward()


def test_needs_a_crop_size(windows):
    with pytest.raises(NetError, match=r"needs a transform_param\.crop_size"):
        build(windows, crop=0)


def test_a_mean_image_must_be_large_enough(windows):
    write_binaryproto(windows / "mean", np.zeros((1, 3, 4, 10), np.float32))
    with pytest.raises(NetError, match=r"no 6 × 6 fit into a mean image of \(3, 4, 10\)"):
        build(windows, transform=f'mean_file: "{windows}/mean"')


def test_dry(tmp_path):
    net = build(tmp_path / "gone", dry=True)
    assert [blob.shape for blob in net.blobs] == [(8, 3, CROP, CROP), (8,)]
