"""GradientScaler: values pass, gradients turn round, ever more strongly."""

import math

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun

LAYER = 'type: "GradientScaler" gradient_scaler_param {{ {} }}'


def coefficients(settings, passes, phase="TRAIN"):
    """What gradients are multiplied by in the first passes."""
    run = LayerRun(LayerCase(LAYER.format(settings), [(2, 3)], phase=phase))
    found = []
    for _ in range(passes):
        np.testing.assert_array_equal(run.forward()[0], run.inputs[0])
        run.backward([np.full((2, 3), 2.0)], [True])
        assert np.ptp(run.bottom[0].blob.diff) == 0
        found.append(run.bottom[0].blob.diff[0, 0] / 2)
    return found


def test_gradients_turn_round_as_the_schedule_says():
    got = coefficients("lower_bound: 0.5 upper_bound: 2 alpha: 3 max_iter: 2", 4)
    ways = [0, 0.5, 1, 1]  # of the way from 0 to max_iter
    want = [-(0.5 + 1.5 * (2 / (1 + math.exp(-3 * p)) - 1)) for p in ways]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_what_is_not_given_is_as_in_the_fork():
    want = [0, -(2 / (1 + math.exp(-10)) - 1)]
    np.testing.assert_allclose(coefficients("", 2), want, rtol=1e-12)


def test_only_passes_of_training_count():
    np.testing.assert_array_equal(coefficients("lower_bound: 0.25", 3, "TEST"), [-0.25] * 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("lower_bound: 2", "lower_bound 2 must not be above upper_bound 1"),
        ("alpha: -1", "alpha must not be negative"),
        ("max_iter: 0", "max_iter must be 1 or more"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(LAYER.format(settings), [(2, 3)]))
