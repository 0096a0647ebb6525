import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "EuclideanLoss"'


@pytest.mark.parametrize(
    "shapes",
    [[(4, 3), (4, 3)], [(2, 3, 2, 2)] * 2, [(4, 6), (4, 2, 3)], [(4,), (4, 1)], [(2,) * 5] * 2],
)
def test_values_and_gradient(shapes):
    num = shapes[0][0]
    check_layer(
        LayerCase(
            LAYER,
            shapes,
            reference=lambda a, b: np.array(((a.ravel() - b.ravel()) ** 2).sum() / 2 / num),
        )
    )


def test_a_gradient_for_either_bottom():
    a, b = np.array([[1.0], [5.0]]), np.array([[4.0], [1.0]])
    for flags in ([True, False], [False, True]):
        run = LayerRun(LayerCase(LAYER, [a, b]))
        run.forward()
        run.backward([np.array(6.0)], flags)
        gradient = [[-9], [12]]
        np.testing.assert_array_equal(run.bottom[0].blob.diff, np.multiply(gradient, flags[0]))
        np.testing.assert_array_equal(run.bottom[1].blob.diff, np.multiply(gradient, -flags[1]))


def test_force_backward_reaches_both():
    layer = LayerRun(LayerCase(LAYER, [(2, 3)] * 2)).layer
    assert layer.force_backward_allowed(0)
    assert layer.force_backward_allowed(1)


def test_different_sizes():
    with pytest.raises(NetError, match=r"as many values, found \(2, 3\) and \(2, 4\)"):
        LayerRun(LayerCase(LAYER, [(2, 3), (2, 4)]))
