import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun

LAYER = 'type: "ArgMax" argmax_param { %s }'


def run(settings, x):
    return LayerRun(LayerCase(LAYER % settings, [x]), np.float32).forward()[0]


def best(values, k):
    """Indices of the k largest of a list, of equal ones the last first."""
    return sorted(range(len(values)), key=lambda i: (values[i], i), reverse=True)[:k]


@pytest.mark.parametrize(
    ("settings", "shape", "expected"),
    [
        ("", (5, 4), (5, 1, 1)),
        ("", (5,), (5, 1, 1)),
        ("", (5, 4, 3, 2), (5, 1, 1, 1)),
        ("", (5, 4, 3, 2, 2), (5, 1, 1, 1, 1)),
        ("top_k: 3", (5, 4), (5, 1, 3)),
        ("top_k: 3 out_max_val: true", (5, 4, 3, 2), (5, 2, 3, 1)),
        ("axis: 0", (5, 4, 3), (1, 4, 3)),
        ("axis: -2 top_k: 2", (5, 4, 3), (5, 2, 3)),
        ("axis: 1 top_k: 2 out_max_val: true", (5, 4, 3), (5, 2, 3)),
    ],
)
def test_shape(settings, shape, expected):
    assert run(settings, np.zeros(shape)).shape == expected


# Small integers, so that there are many ties.
@pytest.mark.parametrize("k", [1, 3])
def test_over_items(k):
    x = np.random.default_rng(0).integers(0, 4, (6, 2, 3, 2)).astype(np.float32)
    flat = x.reshape(6, -1)
    indices = np.array([best(row, k) for row in flat])
    np.testing.assert_array_equal(run(f"top_k: {k}", x)[:, 0, :, 0], indices)
    both = run(f"top_k: {k} out_max_val: true", x)
    np.testing.assert_array_equal(both[:, 0, :, 0], indices)
    np.testing.assert_array_equal(both[:, 1, :, 0], np.take_along_axis(flat, indices, 1))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_along_an_axis(k, axis):
    x = np.random.default_rng(0).integers(0, 3, (3, 4, 5)).astype(np.float32)
    indices = np.apply_along_axis(best, axis, x, k)
    np.testing.assert_array_equal(run(f"top_k: {k} axis: {axis}", x), indices)
    values = run(f"top_k: {k} axis: {axis} out_max_val: true", x)
    np.testing.assert_array_equal(values, np.take_along_axis(x, indices, axis))


def test_equal_values_give_the_last():
    assert run("", np.full((1, 7), 2.5)) == 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("top_k: 0", "top_k must be at least 1, found 0"),
        ("top_k: 13", r"top_k is 13, but the bottom \(2, 3, 4\) has 12"),
        ("top_k: 4 axis: 1", r"top_k is 4, but the bottom \(2, 3, 4\) has 3"),
        ("axis: 3", "axis 3 is out of range"),
    ],
)
def test_settings_refused(settings, message):
    with pytest.raises(NetError, match=message):
        run(settings, np.zeros((2, 3, 4)))


def test_no_gradient():
    case = LayerRun(LayerCase(LAYER % "", [(2, 3)]))
    case.forward()
    with pytest.raises(NetError, match="has no gradient"):
        case.backward([np.ones((2, 1, 1))], [True])
