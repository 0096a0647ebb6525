import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "Clip" clip_param { min: -0.5 max: 1 }'


def test_values_and_gradient():
    x = np.array([[-2.0, -0.49, 0.0], [0.99, 1.01, 7.0]])
    check_layer(LayerCase(LAYER, [x], reference=lambda x: np.clip(x, -0.5, 1)))


def test_gradient_passes_at_both_ends():
    x = np.array([-0.51, -0.5, 0.0, 1.0, 1.01])
    run = LayerRun(LayerCase(LAYER, [x]))
    run.forward()
    run.backward([np.full(5, 3.0)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [0, 3, 3, 3, 0])


def test_min_wins_over_a_smaller_max():
    case = LayerCase('type: "Clip" clip_param { min: 2 max: -2 }', [np.array([-5.0, 0.0, 5.0])])
    np.testing.assert_array_equal(LayerRun(case).forward()[0], [2, 2, 2])


def test_in_place_everything_counts_as_inside():
    run = LayerRun(LayerCase(LAYER, [np.array([-3.0, 0.0, 3.0])]), in_place=True)
    np.testing.assert_array_equal(run.forward()[0], [-0.5, 0, 1])
    run.backward([np.full(3, 4.0)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [4, 4, 4])


def test_both_ends_are_required():
    with pytest.raises(NetError, match="clip_param needs a min"):
        LayerRun(LayerCase('type: "Clip"', [(2,)]))
