import numpy as np
import pytest

from pycaffe_dist.data.drawing import draw_boxes, palette


def test_vocs_colours():
    colors = palette()
    assert colors.shape == (256, 3)
    known = {0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 7: (128, 128, 128), 8: (64, 0, 0)}
    known |= {15: (192, 128, 128), 20: (0, 64, 128), 255: (224, 224, 192)}
    assert {i: tuple(colors[i].tolist()) for i in known} == known
    assert len(np.unique(colors, axis=0)) == 256


@pytest.mark.parametrize("channels", [1, 3])
def test_a_box_has_its_colour_and_leaves_the_rest(channels):
    image = np.full((40, 50, channels), 7, np.uint8)
    drawn = draw_boxes(
        image, np.array([[10.2, 20, 30, 35], [-5, -5, 900, 900]]), [1, 258], ["", ""]
    )
    assert drawn.shape == (40, 50, 3)
    red, green = [0, 0, 128], [0, 128, 0]  # blue first
    for row, column in ((20, 10), (20, 30), (35, 10), (35, 30), (27, 10)):
        assert drawn[row, column].tolist() == red
    for row, column in ((0, 0), (39, 49), (0, 25)):
        assert drawn[row, column].tolist() == green
    assert (drawn[21:35, 11:30] == 7).all()


def test_the_text_stands_in_the_box():
    image = np.zeros((60, 120, 3), np.uint8)
    drawn = draw_boxes(image, np.array([[20, 10, 110, 50]]), [1], ["кот 0.95"])
    inside = drawn[11:25, 21:80]
    assert (inside == [0, 0, 128]).all(axis=2).any() and (inside > 200).all(axis=2).any()
    assert not drawn[:, :20].any()
