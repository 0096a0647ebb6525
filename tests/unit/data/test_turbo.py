"""JPEGs without Pillow: the same pixels, and none of what Pillow has to look at."""

import io
import platform
import sys

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data import turbo
from pycaffe_dist.data.image import Color, decode

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="there its wheel is no part"
)
RNG = np.random.default_rng(0)


def photograph(height=48, width=64, mode="RGB"):
    small = Image.fromarray(RNG.integers(0, 256, (7, 9, 3), np.uint8))
    return small.resize((width, height), Image.Resampling.BICUBIC).convert(mode)


def stored(image, kind="JPEG", **settings):
    file = io.BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("quality", [30, 75, 95])
@pytest.mark.parametrize("size", [(48, 64), (33, 47), (1, 1), (17, 8)])
def test_the_same_pixels_as_pillow(size, quality, subsampling):
    for progressive in (False, True):
        settings = {"quality": quality, "subsampling": subsampling, "progressive": progressive}
        encoded = stored(photograph(*size), **settings)
        want = np.asarray(Image.open(io.BytesIO(encoded)))[:, :, ::-1]
        got = turbo.turbo_decode(encoded, upright=True)
        np.testing.assert_array_equal(got, want)
        for color in (Color.COLOR, Color.NATIVE):
            np.testing.assert_array_equal(decode(encoded, color), want)


def test_others_are_left_to_pillow():
    for image in (photograph(mode="L"), photograph(mode="CMYK")):
        assert turbo.turbo_decode(stored(image), upright=False) is None
    assert turbo.turbo_decode(stored(photograph(), "PNG"), upright=False) is None
    assert decode(stored(photograph(mode="L")), Color.NATIVE).shape == (48, 64, 1)
    assert decode(stored(photograph()), Color.GRAY).shape == (48, 64, 1)


def test_a_photograph_is_turned_as_the_camera_noted():
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn
    encoded = stored(photograph(), exif=exif)
    assert turbo.turbo_decode(encoded, upright=True) is None
    assert decode(encoded, Color.COLOR).shape == (64, 48, 3)
    assert decode(encoded, Color.NATIVE).shape == (48, 64, 3)


def test_damaged_files_get_pillows_answer(monkeypatch):
    whole = stored(photograph(200, 200), quality=95)
    for encoded in (whole[: len(whole) // 2], whole[:20], whole[:2] + b"\xff" + bytes(50)):
        assert turbo.turbo_decode(encoded, upright=True) is None
        with pytest.raises(ValueError, match="is not a readable image"):
            decode(encoded, Color.COLOR)


def test_too_many_pixels_are_not_decoded(monkeypatch):
    encoded = stored(photograph())
    monkeypatch.setattr(turbo, "most_pixels", lambda size: 48 * 64 - 1)
    assert turbo.turbo_decode(encoded, upright=True) is None


def test_without_the_library_pillow_decodes(monkeypatch):
    encoded = stored(photograph())
    want = decode(encoded, Color.COLOR)
    monkeypatch.setattr(turbo, "_decoder", lambda: None)
    assert turbo.turbo_decode(encoded, upright=True) is None
    np.testing.assert_array_equal(decode(encoded, Color.COLOR), want)
