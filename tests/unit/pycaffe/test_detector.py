import sys
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.pycaffe import io
from pycaffe_dist.pycaffe.detector import Detector
from pycaffe_dist.pycaffe.net import Net

SIZE = 8
NET = f"""
layer {{
  name: "data" type: "Input" top: "data"
  input_param {{ shape {{ dim: 2 dim: 3 dim: {SIZE} dim: {SIZE} }} }}
}}
layer {{
  name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param {{ num_output: 2 weight_filler {{ type: "gaussian" std: 1 }} }}
}}
"""
RNG = np.random.default_rng(6)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "deploy.prototxt").write_text(NET)
    Net(str(tmp_path / "deploy.prototxt"), 1).save(str(tmp_path / "net.caffemodel"))
    return str(tmp_path / "deploy.prototxt"), str(tmp_path / "net.caffemodel")


@pytest.fixture
def images(tmp_path):
    names = [str(tmp_path / f"{i}.png") for i in range(2)]
    for name in names:
        Image.fromarray(RNG.integers(0, 256, (20, 30, 3)).astype(np.uint8)).save(name)
    return names


def test_windows(files, images):
    detector = Detector(*files, raw_scale=255, channel_swap=(2, 1, 0), mean=np.arange(3.0))
    windows = [[[0, 0, 10, 12], [5, 6, 15, 20]], [np.array([1.0, 2.0, 9.0, 10.0])]]
    found = detector.detect_windows(zip(images, windows, strict=True))
    assert [d["filename"] for d in found] == [images[0], images[0], images[1]]
    assert [list(d["window"]) for d in found] == [[0, 0, 10, 12], [5, 6, 15, 20], [1, 2, 9, 10]]
    weights, bias = (blob.data for blob in detector.params["ip"])
    for one in found:
        y0, x0, y1, x1 = map(int, one["window"])
        crop = io.load_image(one["filename"])[y0:y1, x0:x1]
        crop = io.resize_image(crop, (SIZE, SIZE)).transpose(2, 0, 1)[::-1] * 255
        expected = weights @ (crop - np.arange(3)[:, None, None]).reshape(-1) + bias
        np.testing.assert_allclose(one["prediction"], expected, rtol=1e-4, atol=1e-2)


def test_no_windows(files, images):
    assert Detector(*files).detect_windows([(images[0], [])]) == []


def test_crop_without_context_is_the_window(files):
    image = RNG.random((20, 30, 3)).astype(np.float32)
    detector = Detector(*files)
    assert np.array_equal(detector.crop(image, (3, 4, 9, 11)), image[3:9, 4:11])
    with pytest.raises(ValueError, match=r"\[3, 40, 9, 50\].*no pixels in an image of 20 x 30"):
        detector.crop(image, [3, 40, 9, 50])


def test_context_in_the_middle(files):
    """A window of 4 x 4 with 2 of 8 pixels around it is a window of twice the size."""
    image = RNG.random((40, 40, 3)).astype(np.float32)
    detector = Detector(*files, context_pad=2)
    crop = detector.crop(image, [20, 12, 23, 15])  # Caffe counts 4 pixels
    assert crop.shape == (SIZE, SIZE, 3)
    np.testing.assert_allclose(crop, io.resize_image(image[18:26, 10:18], (SIZE, SIZE)), rtol=1e-6)


def by_hand(image, window, pad, mean):
    """R-CNN's crop with context, one axis at a time in plain numbers."""
    span = []
    for lower, upper, limit in zip(window[:2], window[2:], image.shape[:2], strict=True):
        half = (upper - lower + 1) / 2
        centre = lower + half
        half = half * SIZE / (SIZE - 2 * pad)
        begin, end = round(centre - half), round(centre + half)
        scale = SIZE / (end - begin + 1)
        before = round(max(0, -begin) * scale)
        begin, end = min(max(begin, 0), limit), min(max(end, 0), limit)
        room = min(round((end - begin + 1) * scale), SIZE - before)
        span.append((begin, end, before, room))
    (y0, y1, top, height), (x0, x1, left, width) = span
    out = np.tile(np.asarray(mean, np.float32), (SIZE, SIZE, 1))
    inner = io.resize_image(image[y0:y1, x0:x1], (height, width))
    out[top : top + height, left : left + width] = inner
    return out


@pytest.mark.parametrize(
    "window",
    [[0, 0, 10, 10], [2, 3, 30, 9], [25, 30, 39, 39], [-4, 5, 6, 20], [0, 0, 39, 39]],
)
@pytest.mark.parametrize("pad", [1, 2])
def test_context_beyond_the_image_is_the_mean(files, window, pad):
    image = RNG.random((40, 40, 3)).astype(np.float32)
    detector = Detector(
        *files,
        mean=np.array([30.0, 60, 90]),
        raw_scale=300,
        channel_swap=(2, 0, 1),
        context_pad=pad,
    )
    # Channel 0 of the net is channel 2 of the image, and so on.
    mean = [60 / 300, 90 / 300, 30 / 300]
    crop = detector.crop(image, np.array(window))
    np.testing.assert_allclose(crop, by_hand(image, window, pad, mean), rtol=1e-6)


def test_mean_image_as_it_looks_before_preprocessing(files):
    mean = RNG.random((3, SIZE, SIZE))
    detector = Detector(*files, mean=mean, raw_scale=2, channel_swap=(1, 2, 0), context_pad=1)
    back = detector.transformer.preprocess("data", detector.crop_mean)
    np.testing.assert_allclose(back, 0, atol=1e-6)
    assert list(detector.crop_dims) == [SIZE, SIZE, 3]
    detector = Detector(*files, context_pad=1)
    assert not detector.crop_mean.any()


def test_selective_search_is_somewhere_else(files, images):
    with pytest.raises(MissingPartError, match=r"MATLAB.*(?s:.)*detect_windows"):
        Detector(*files).detect_selective_search(images)


def test_selective_search_if_it_is_there(files, images, monkeypatch):
    module = ModuleType("selective_search_ijcv_with_python")
    asked = []

    def get_windows(names, cmd):
        asked.append((names, cmd))
        return [np.array([[0, 0, 5, 5]])] * len(names)

    module.get_windows = get_windows
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = Detector(*files).detect_selective_search(images)
    assert [d["filename"] for d in found] == images
    assert asked == [(images, "selective_search_rcnn")]


def test_an_image_of_less_than_a_pixel_of_its_window_leaves_the_mean(files):
    detector = Detector(*files, mean=np.full(3, 0.5), context_pad=1)
    crop = detector.crop(np.ones((20, 30, 3), np.float32), [0, 0, 1 << 30, 7])
    np.testing.assert_array_equal(crop, np.full((SIZE, SIZE, 3), 0.5, np.float32))
