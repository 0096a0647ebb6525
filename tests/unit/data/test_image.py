import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pycaffe_dist.data import pillow
from pycaffe_dist.data.image import Color, decode, read_image, resize
from pycaffe_dist.errors import FileError
from pycaffe_dist.pycaffe.io import load_image

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
RGB = Image.fromarray(PIXELS)


def stored(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def with_alpha():
    image = RGB.copy()
    image.putalpha(100)
    return image


# -- decoding --------------------------------------------------------------------------------------


def test_colours_are_blue_first():
    np.testing.assert_array_equal(decode(stored(RGB), Color.COLOR), PIXELS[:, :, ::-1])
    np.testing.assert_array_equal(decode(stored(RGB, "BMP"), Color.NATIVE), PIXELS[:, :, ::-1])


@pytest.mark.parametrize(
    ("image", "channels"),
    [
        (RGB, 3),
        (RGB.convert("L"), 1),
        (RGB.convert("1"), 1),
        (RGB.quantize(4), 3),
        (with_alpha(), 4),
        (RGB.convert("L").convert("LA"), 4),
    ],
    ids=lambda x: getattr(x, "mode", x),
)
def test_channels(image, channels):
    data = stored(image)
    assert decode(data, Color.NATIVE).shape == (5, 7, channels)
    assert decode(data, Color.COLOR).shape == (5, 7, 3)
    assert decode(data, Color.GRAY).shape == (5, 7, 1)


def test_alpha_is_dropped_not_mixed_in():
    data = stored(with_alpha())
    np.testing.assert_array_equal(decode(data, Color.COLOR), PIXELS[:, :, ::-1])
    native = decode(data, Color.NATIVE)
    np.testing.assert_array_equal(native[:, :, :3], PIXELS[:, :, ::-1])
    assert (native[:, :, 3] == 100).all()


def test_grey_is_repeated_for_colour():
    gray = np.asarray(RGB.convert("L"))
    color = decode(stored(RGB.convert("L")), Color.COLOR)
    np.testing.assert_array_equal(color, np.stack([gray] * 3, axis=2))


def test_grey_of_a_png_is_rounded_down():
    red, green, blue = (PIXELS[:, :, i].astype(int) for i in range(3))
    want = (9797 * red + 19234 * green + 3737 * blue) // 32768
    np.testing.assert_array_equal(decode(stored(RGB), Color.GRAY)[:, :, 0], want)


def test_grey_of_a_jpeg_is_its_own_brightness():
    data = stored(RGB, "JPEG", quality=90)
    y = np.asarray(Image.open(io.BytesIO(data)).convert("YCbCr"))[:, :, 0].astype(int)
    gray = decode(data, Color.GRAY)[:, :, 0]
    assert np.abs(gray - y).max() <= 2  # through RGB and back it is only nearly so
    drafted = Image.open(io.BytesIO(data))
    drafted.draft("L", drafted.size)
    np.testing.assert_array_equal(gray, np.asarray(drafted))


def test_sixteen_bits():
    deep = np.arange(0, 65536, 1024, dtype=np.uint16).reshape(8, 8)
    data = stored(Image.fromarray(deep))
    np.testing.assert_array_equal(decode(data, Color.GRAY)[:, :, 0], deep >> 8)
    with pytest.raises(ValueError, match="more than 8 bits"):
        decode(data, Color.NATIVE)


def test_a_turned_photograph_is_turned_back():
    exif = Image.Exif()
    exif[0x0112] = 6
    data = stored(RGB, "JPEG", exif=exif)
    assert decode(data, Color.COLOR).shape == (7, 5, 3)
    assert decode(data, Color.GRAY).shape == (7, 5, 1)
    assert decode(data, Color.NATIVE).shape == (5, 7, 3)


@pytest.mark.parametrize("data", [b"", b"hello", stored(RGB)[:-30], stored(RGB, "JPEG")[:200]])
@pytest.mark.parametrize("color", Color)
def test_damaged(data, color):
    with pytest.raises(ValueError, match="is not a readable image"):
        decode(data, color)


def test_read_image(tmp_path):
    path = tmp_path / "i.png"
    RGB.save(path)
    np.testing.assert_array_equal(read_image(str(path)), PIXELS[:, :, ::-1])
    assert read_image(str(path), 3, 4, Color.GRAY).shape == (3, 4, 1)
    path.write_text("not one")
    with pytest.raises(FileError, match=r"i\.png: is not a readable image"):
        read_image(str(path))
    with pytest.raises(FileError, match="cannot be read"):
        read_image(str(tmp_path / "gone.png"))


# -- resizing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["adobe", "unmarked", "ycck", "ycck_subsampled"])
def test_inks_of_a_jpeg_as_opencv(name):
    """The .npz has four small CMYK JPEGs, and what OpenCV 5's imdecode made of them."""
    with np.load(Path(__file__).with_name("cmyk_by_opencv.npz")) as recorded:
        encoded = recorded[name].tobytes()
        color, gray = (recorded[f"{name}_{what}"].astype(int) for what in ("color", "gray"))
    for how in (Color.COLOR, Color.NATIVE):
        assert np.abs(decode(encoded, how) - color).max() <= 1
    assert np.abs(decode(encoded, Color.GRAY)[:, :, 0] - gray).max() <= 1


def bilinear(image, height, width):
    """In plain floating point, pixel by pixel."""
    out = np.empty((height, width, image.shape[2]))
    for y in range(height):
        for x in range(width):
            at = [
                min(max((p + 0.5) * old / new - 0.5, 0), old - 1)
                for p, old, new in ((y, image.shape[0], height), (x, image.shape[1], width))
            ]
            (y0, x0), (fy, fx) = (int(a) for a in at), (a % 1 for a in at)
            y1, x1 = min(y0 + 1, image.shape[0] - 1), min(x0 + 1, image.shape[1] - 1)
            upper = image[y0, x0] * (1 - fx) + image[y0, x1] * fx
            lower = image[y1, x0] * (1 - fx) + image[y1, x1] * fx
            out[y, x] = upper * (1 - fy) + lower * fy
    return out


@pytest.mark.parametrize(
    ("old", "new"),
    [((5, 7), (11, 9)), ((20, 30), (7, 13)), ((1, 1), (4, 4)), ((6, 1), (3, 5)), ((9, 9), (1, 1))],
)
@pytest.mark.parametrize("channels", [1, 3])
def test_resize(old, new, channels):
    image = np.random.default_rng(1).integers(0, 256, (*old, channels), dtype=np.uint8)
    got = resize(image, *new)
    assert got.dtype == np.uint8 and got.shape == (*new, channels)
    assert np.abs(got - bilinear(image, *new)).max() <= 1


def test_resize_by_half_is_the_mean_of_four():
    image = np.random.default_rng(2).integers(0, 256, (8, 6, 3), dtype=np.uint8)
    sums = image.reshape(4, 2, 3, 2, 3).sum(axis=(1, 3), dtype=int)
    np.testing.assert_array_equal(resize(image, 4, 3), (sums + 2) // 4)


def test_resize_keeps_what_is_constant_and_what_fits():
    image = np.full((3, 4, 3), 255, np.uint8)
    assert (resize(image, 17, 5) == 255).all()
    assert resize(image, 3, 4) is image


def test_resize_rounds_as_opencv():
    image = (np.arange(12).reshape(3, 4, 1) * 21).astype(np.uint8)
    by_opencv = [[3, 31, 59], [37, 65, 93], [87, 116, 144], [138, 166, 194], [171, 199, 227]]
    np.testing.assert_array_equal(resize(image, 5, 3)[:, :, 0], by_opencv)


def test_few_bytes_that_would_become_gigabytes(tmp_path):
    """A blank PNG of 7000 × 7000 pixels has 6 kB."""
    Image.new("1", (7000, 7000)).save(tmp_path / "blank.png")
    for read in (read_image, load_image):
        with pytest.raises((FileError, ValueError), match="7000 × 7000 pixels, more than"):
            read(str(tmp_path / "blank.png"))


def test_a_large_photograph_is_read(tmp_path, monkeypatch):
    """What counts is how many pixels a byte of the file makes."""
    monkeypatch.setattr(pillow, "MOST_PIXELS", 100)
    noise = np.random.default_rng(1).integers(0, 255, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "photo.jpg")
    assert read_image(str(tmp_path / "photo.jpg")).shape == (64, 64, 3)
    Image.new("L", (64, 64)).save(tmp_path / "blank.png")
    monkeypatch.setattr(pillow, "MOST_PIXELS_A_BYTE", 1)
    with pytest.raises(FileError, match="64 × 64 pixels"):
        read_image(str(tmp_path / "blank.png"))
