import numpy as np
import pytest

from pycaffe_dist.data.image import resize
from pycaffe_dist.data.window_file import Window, read_window_file, warp
from pycaffe_dist.errors import FileError

IMAGE = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)


def read(tmp_path, text, fg=0.5, bg=0.5):
    (tmp_path / "w.txt").write_text(text)
    return read_window_file(str(tmp_path / "w.txt"), fg, bg)


# -- the file --------------------------------------------------------------------------------------


def test_thresholds(tmp_path):
    boxes = ["1 0.5 1 2 3 4", "2 0.49 5 6 7 8", "3 0.3 0 0 1 1", "4 0.29 0 0 2 2"]
    found = read(tmp_path, f"# 0 a.jpg 3 20 30 {len(boxes)} {' '.join(boxes)}", fg=0.5, bg=0.3)
    assert found.foreground == [Window(0, 1, 1, 2, 3, 4)]
    assert found.background == [Window(0, 0, 0, 0, 2, 2)]  # labelled 0


def test_thresholds_are_float32(tmp_path):
    found = read(tmp_path, "# 0 a.jpg 3 20 30 1 1 0.3 0 0 1 1", fg=float(np.float32(0.3)), bg=0)
    assert len(found.foreground) == 1


def test_several_images(tmp_path):
    text = "# 0\na\n3\n2\n2\n0\n# 1\nb\n3\n2\n2\n1\n5 1 0 0 1 1\n"
    found = read(tmp_path, text)
    assert found.images == ["a", "b"] and found.channels == 3
    assert found.foreground == [Window(1, 5, 0, 0, 1, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no images"),
        ("0 a.jpg", 'after the beginning: "# index" was expected, not "0"'),
        ("# 0 a.jpg 3 20 30 2 1 0.9 0 0 1 1", "the file ends in the middle"),
        ("# 0 a.jpg 3 20", "the file ends in the middle"),
        ("# 0 a.jpg 3 20 30 1 0 0.9 0 0 1 1", "foreground window has the label 0"),
        ("# 0\na.jpg 3 20 30 1\nx 0.1 0 0 1 1", "3: the label must be a whole number, not 'x'"),
        ("# 0\na.jpg 3 20 30 1\n1 x 0 0 1 1", "3: the overlap must be a number, not 'x'"),
        ("# 5 a.jpg 3 20 30 1 1 0.9 0 0 1 1", '"# 5" among 1 images; number them from 0'),
    ],
)
def test_refuses(tmp_path, text, message):
    with pytest.raises(FileError, match=f"w.txt:.*{message}"):
        read(tmp_path, text)


# -- the warp --------------------------------------------------------------------------------------


def test_a_window_is_resized():
    pixels, row, column = warp(IMAGE, Window(0, 1, 2, 3, 11, 17), 8, 0, False, False)
    np.testing.assert_array_equal(pixels, resize(IMAGE[3:18, 2:12], 8, 8))
    assert (row, column) == (0, 0)


def test_mirrored():
    window = Window(0, 1, 2, 3, 11, 17)
    plain, _, _ = warp(IMAGE, window, 8, 0, False, False)
    mirrored, _, _ = warp(IMAGE, window, 8, 0, False, True)
    np.testing.assert_array_equal(mirrored, plain[:, ::-1])


def test_context_inside_the_image():
    # 8 × 8 for 12: 12 / (12 − 2·2) = 1.5 times as large, from its middle (14, 10)
    pixels, row, column = warp(IMAGE, Window(0, 1, 10, 6, 17, 13), 12, 2, False, False)
    np.testing.assert_array_equal(pixels, resize(IMAGE[4:17, 8:21], 12, 12))
    assert (row, column) == (0, 0)


def test_a_square_takes_the_longer_side():
    pixels, _, _ = warp(IMAGE, Window(0, 1, 10, 8, 17, 11), 9, 0, True, False)
    np.testing.assert_array_equal(pixels, resize(IMAGE[6:15, 10:19], 9, 9))


def test_what_lies_outside_is_left_out():
    # Widened from 8 to 16 around (4, 4): −4 to 12, of which 4 of 17 are outside on each axis.
    window = Window(0, 1, 0, 0, 7, 7)
    pixels, row, column = warp(IMAGE, window, 16, 4, False, False)
    assert (row, column) == (4, 4)  # 4 · 16 / 17, rounded
    np.testing.assert_array_equal(pixels, resize(IMAGE[0:13, 0:13], 12, 12))
    mirrored, row, column = warp(IMAGE, window, 16, 4, False, True)
    assert (row, column) == (4, 0)  # what was left out on the left is now on the right
    np.testing.assert_array_equal(mirrored, resize(IMAGE[0:13, 0:13], 12, 12)[:, ::-1])


def test_halves_are_rounded_away_from_zero():
    # Width 1 around 0.5 in a square of 4 around it: −1.5 to 2.5 is −2 to 3.
    pixels, _, column = warp(IMAGE, Window(0, 1, 0, 8, 0, 11), 6, 0, True, False)
    np.testing.assert_array_equal(pixels, resize(IMAGE[8:13, 0:4], 6, 4))
    assert column == 2


def test_refuses_windows():
    for box in [(0, 0, 30, 5), (0, 0, 5, 20), (-1, 0, 5, 5), (6, 0, 5, 5)]:
        with pytest.raises(ValueError, match="does not lie in an image of 30 × 20"):
            warp(IMAGE, Window(0, 1, *box), 8, 0, False, False)
    with pytest.raises(ValueError, match="context_pad 4 leaves nothing of crop_size 8"):
        warp(IMAGE, Window(0, 1, 0, 0, 5, 5), 8, 4, False, False)
