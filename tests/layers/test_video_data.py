"""VideoData: frames of clips, of segments, and what is refused."""

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.errors import NetError
from pycaffe_dist.layer import Context
from pycaffe_dist.layers.video.video_data import part_sizes
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import TEST, TRAIN, NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.rng import set_random_seed

FRAMES = 24


def save(path, value, shape=(12, 16, 3)):
    """A frame that is its number; stored without loss under any name."""
    image = np.full(shape, value, np.uint8)
    image[..., : shape[1] // 2, :] += 100
    Image.fromarray(image if len(shape) == 3 and shape[2] == 3 else image[..., 0]).save(path, "PNG")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("video")
    for video in ("a", "b"):
        (root / video).mkdir()
        for number in range(1, FRAMES + 1):
            save(root / video / f"{number:06d}.jpg", number)
            save(root / video / f"image_{number:04d}.jpg", number)
            for axis, more in (("x", 0), ("y", 50)):
                save(root / video / f"flow_{axis}_{number:05d}.jpg", number + more, (12, 16, 1))
    (root / "clips.txt").write_text("a 3 1\nb 7 2\n")
    (root / "segments.txt").write_text(f"a {FRAMES} 1\nb 4 2\n")
    return root


def build(folder, source, settings, transform="", phase=TEST, dry=False):
    text = f"""layer {{ name: "d" type: "VideoData" top: "data" top: "label"
        transform_param {{ {transform} }} video_data_param {{ source: "{folder}/{source}"
        root_folder: "{folder}/" batch_size: 2 {settings} }} }}"""
    param = parse_text(text, NetParameter()).message
    param.state.phase = phase
    return Net(param, Context(dry=dry))


def forward(net):
    net.forward()
    return [blob.data.copy() for blob in net.blobs]


def test_clips_of_c3d(folder):
    """(N, 3, L, H, W): from the first frame on, ``sampling_rate`` apart."""
    data, labels = forward(build(folder, "clips.txt", "new_length: 4 sampling_rate: 2"))
    assert data.shape == (2, 3, 4, 12, 16) and labels.shape == (2, 1, 1, 1)
    np.testing.assert_array_equal(data[:, 0, :, 0, -1], [[3, 5, 7, 9], [7, 9, 11, 13]])
    np.testing.assert_array_equal(labels.reshape(-1), [1, 2])


def test_grey_clips_and_lines_that_are_skipped(folder):
    settings = "new_length: 2 is_color: false rand_skip: 2"
    data, _ = forward(build(folder, "clips.txt", settings))
    assert data.shape == (2, 1, 2, 12, 16)
    starts = {forward(build(folder, "clips.txt", settings))[0][0, 0, 0, 0, -1] for _ in range(20)}
    assert starts == {3, 7}


def test_frames_of_a_clip_are_cropped_and_mirrored_alike(folder):
    set_random_seed(3)
    means = "mean_value: 1 mean_value: 2 mean_value: 3"
    transform = f"crop_size: 8 mirror: true {means}"
    net = build(folder, "clips.txt", "new_length: 3", transform, TRAIN)
    seen = set()
    for _ in range(4):
        data, _ = forward(net)
        for clip, first in zip(data, (3, 7), strict=True):
            plain = clip + np.array([1, 2, 3]).reshape(3, 1, 1, 1)
            numbers = np.arange(first, first + 3).reshape(1, 3, 1, 1)
            bright = plain - numbers
            assert (bright == bright[:1, :1]).all() and set(np.unique(bright)) <= {0, 100}
            seen.add(bright[0, 0].tobytes())
    assert len(seen) > 3


def test_segments_begin_in_the_middle_of_their_part(folder):
    """24 frames in 3 parts of 8: frames 3 and 4 of each; 4 frames are too few: the first ones."""
    settings = "num_segments: 3 new_length: 2 modality: RGB"
    data, labels = forward(build(folder, "segments.txt", settings))
    assert data.shape == (2, 18, 12, 16)
    starts = data[:, ::3, 0, -1]
    np.testing.assert_array_equal(starts[0], [4, 5, 12, 13, 20, 21])
    np.testing.assert_array_equal(starts[1], [1, 2, 1, 2, 1, 2])
    np.testing.assert_array_equal(labels.reshape(-1), [1, 2])


def test_segments_begin_anywhere_in_training(folder):
    set_random_seed(1)
    settings = "num_segments: 2 new_length: 3 modality: RGB"
    net = build(folder, "segments.txt", settings, phase=TRAIN)
    starts = np.array([forward(net)[0][0, [0, 9], 0, -1] for _ in range(12)])
    assert ((starts >= [1, 13]) & (starts <= [10, 22])).all()
    assert len(np.unique(starts)) > 6


def test_flow_has_x_and_y(folder):
    pattern = 'name_pattern: "flow_%c_%05d.jpg"'
    settings = f"num_segments: 1 new_length: 2 modality: FLOW {pattern}"
    data, _ = forward(build(folder, "segments.txt", settings))
    np.testing.assert_array_equal(data[0, :, 0, -1], [12, 62, 13, 63])


def test_mirrored_flow_points_the_other_way(folder):
    set_random_seed(0)
    settings = 'num_segments: 1 new_length: 1 modality: FLOW name_pattern: "flow_%c_%05d.jpg"'
    net = build(folder, "segments.txt", settings, "mirror: true is_flow: true")
    found = {tuple(row) for _ in range(6) for row in forward(net)[0][:1, :, 0, -1].tolist()}
    assert found == {(13, 63), (255 - 113, 163)}


def test_parts_of_several_scales(folder):
    set_random_seed(2)
    transform = "crop_size: 6 mirror: true multi_scale: true fix_crop: true more_fix_crop: true"
    settings = "num_segments: 1 new_length: 1 modality: RGB"
    net = build(folder, "segments.txt", settings, transform, TRAIN)
    seen = {forward(net)[0][0, 0].tobytes() for _ in range(8)}
    assert net.blobs[0].shape == (2, 3, 6, 6) and len(seen) > 3


def test_sizes_of_parts():
    """Of the shorter side; near the crop's size they are the crop's."""
    sizes = part_sizes((256, 340), (224, 224), [1, 0.875, 0.75], 1)
    assert set(sizes) == {
        (256, 256), (256, 224), (224, 256), (224, 224), (224, 192), (192, 224), (192, 192),
    }  # fmt: skip
    assert part_sizes((256, 340), (222, 222), [0.875], 1) == [(222, 222)]


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        ("movie.txt", "new_length: 2", r"movie.txt:1: found 'a.avi 3'; a line is a folder"),
        ("none.txt", "new_length: 2", "lists no videos"),
        ("clips.txt", "new_length: 30", r"a/000025.jpg"),
        ("sizes.txt", "new_length: 2", r"small: an image of the shape \(6, 10, 16\)"),
        ("clips.txt", 'video_type: VIDEO video_file: "a.avi"', "cameras and video files"),
    ],
)
def test_what_is_refused(folder, source, settings, message):
    (folder / "movie.txt").write_text("a.avi 3\n")
    (folder / "none.txt").write_text("\n")
    (folder / "sizes.txt").write_text("a 1 1\nsmall 1 1\n")
    (folder / "small").mkdir(exist_ok=True)
    for number in (1, 2):
        save(folder / "small" / f"{number:06d}.jpg", number, (10, 16, 3))
    with pytest.raises(NetError, match=message):
        forward(build(folder, source, settings))


def test_a_dry_net_needs_no_files():
    net = build("nowhere", "clips.txt", "new_length: 16", "crop_size: 112", dry=True)
    assert [blob.shape for blob in net.blobs] == [(2, 3, 16, 112, 112), (2, 1, 1, 1)]


def test_a_dry_net_counts_segments_frames_and_channels():
    settings = "num_segments: 3 new_length: 5 modality: FLOW"
    net = build("nowhere", "segments.txt", settings, "crop_size: 224", dry=True)
    assert net.blobs[0].shape == (2, 30, 224, 224)
