import io

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data.encoded import encode, encoded_shape
from pycaffe_dist.data.image import Color, decode

SMOOTH = np.stack(np.mgrid[0:120:4, 0:80:4], 2).astype(np.uint8)
SMOOTH = np.concatenate([SMOOTH, np.full_like(SMOOTH[:, :, :1], 200)], 2)  # (30, 20, 3)


@pytest.mark.parametrize("channels", [1, 3])
def test_png_keeps_every_pixel(channels):
    pixels = SMOOTH[:, :, :channels]
    encoded = encode(pixels, "PNG")
    assert encoded_shape(encoded) == ("PNG", (channels, 30, 20))
    np.testing.assert_array_equal(decode(encoded, Color.NATIVE), pixels)


@pytest.mark.parametrize("extension", ["jpg", "jpeg"])
def test_jpeg_is_of_high_quality(extension):
    encoded = encode(SMOOTH, extension)
    assert encoded_shape(encoded) == ("JPEG", (3, 30, 20))
    apart = np.abs(decode(encoded, Color.COLOR).astype(int) - SMOOTH)
    assert apart.max() <= 6


def test_unknown_kind():
    with pytest.raises(ValueError, match="cannot be encoded as 'xyz'"):
        encode(SMOOTH, "xyz")


def test_shape_of_what_is_no_image():
    with pytest.raises(ValueError, match="not a readable image"):
        encoded_shape(b"no image")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
def test_shape_is_the_decoded_one(mode):
    file = io.BytesIO()
    Image.new(mode, (7, 5)).save(file, "JPEG" if mode == "CMYK" else "PNG")
    _, (channels, height, width) = encoded_shape(file.getvalue())
    decoded = decode(file.getvalue(), Color.NATIVE)
    assert (height, width, channels) == decoded.shape


@pytest.mark.parametrize(
    ("mode", "kind", "more", "channels"),
    [
        ("P", "png", {}, 3),
        ("P", "png", {"transparency": 0}, 4),
        ("RGB", "png", {"transparency": (0, 0, 0)}, 4),
        ("I;16", "png", {}, 1),
        ("I", "tiff", {}, 1),
        ("F", "tiff", {}, 1),
    ],
)
def test_channels_of_palettes_transparent_colours_and_deep_greys(mode, kind, more, channels):
    file = io.BytesIO()
    Image.new(mode, (4, 3)).save(file, kind, **more)
    assert encoded_shape(file.getvalue()) == (kind.upper(), (channels, 3, 4))
