import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def crop(settings=""):
    return f'type: "Crop" crop_param {{ {settings} }}'


@pytest.mark.parametrize(
    ("settings", "shape", "like", "expected"),
    [
        ("axis: 0", (2, 4, 5, 4), (1, 3, 4, 2), lambda x: x[:1, :3, :4, :2]),
        ("", (2, 4, 5, 4), (9, 9, 4, 2), lambda x: x[:, :, :4, :2]),
        ("axis: -1", (2, 4, 5, 4), (9, 9, 9, 2), lambda x: x[..., :2]),
        ("axis: 1 offset: 1", (2, 4, 5, 4), (1, 3, 4, 2), lambda x: x[:, 1:4, 1:5, 1:3]),
        ("offset: 1 offset: 2", (2, 4, 5, 4), (1, 1, 3, 2), lambda x: x[:, :, 1:4, 2:4]),
        (
            "axis: 2 offset: [1, 0, 2]",
            (2, 2, 3, 2, 5),
            (1, 1, 2, 2, 3),
            lambda x: x[:, :, 1:3, :, 2:],
        ),
        ("", (2, 2, 3, 2), (2, 2, 3, 2), lambda x: x),
        ("axis: 1", (2, 4), (5, 3, 7), lambda x: x[:, :3]),
    ],
)
def test_crop(settings, shape, like, expected):
    case = LayerCase(crop(settings), [shape, like], reference=lambda x, _: expected(x), bottoms=[0])
    check_layer(case)


def test_outside_gets_zero_and_the_second_bottom_nothing():
    run = LayerRun(LayerCase(crop(), [(1, 1, 3, 3), (1, 1, 2, 2)]))
    for view in run.bottom:
        view.blob.diff[...] = 7
    run.forward()
    run.backward([np.ones((1, 1, 2, 2))], [True, True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff[0, 0], [[1, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert (run.bottom[1].blob.diff == 7).all()


@pytest.mark.parametrize(
    ("settings", "shape", "like", "message"),
    [
        ("", (1, 1, 3, 3), (1, 1, 4, 2), "axis 2: offset 0 and size 4 reach beyond the 3"),
        ("offset: 2", (1, 1, 3, 3), (1, 1, 1, 2), "axis 3: offset 2 and size 2"),
        ("offset: [1, 1, 1]", (1, 1, 3, 3), (1, 1, 1, 1), "3 offsets for 2 cropped axes"),
        ("axis: 4", (1, 1, 3, 3), (1, 1, 1, 1), "axis 4 is out of range"),
        ("", (1, 1, 3, 3), (1, 1, 3), "fewer axes"),
    ],
)
def test_errors(settings, shape, like, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(crop(settings), [shape, like]))
