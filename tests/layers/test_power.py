import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def layer(power, scale, shift):
    return f'type: "Power" power_param {{ power: {power} scale: {scale} shift: {shift} }}'


@pytest.mark.parametrize(
    ("power", "scale", "shift"),
    [
        (1, 1, 0),
        (1, 0.5, -2),
        (2, 1, 0),
        (2, 0.5, -2),
        (3, 0.5, -2),
        (3, 0.5, 0),
        (0, 0.5, -2),
        (3, 0, -2),
        (0, 0, 0),
    ],
)
def test_values_and_gradient(power, scale, shift):
    check_layer(
        LayerCase(
            layer(power, scale, shift),
            [(2, 3, 4)],
            reference=lambda x: (shift + scale * x) ** power,
        )
    )


@pytest.mark.parametrize(("power", "scale", "shift"), [(0.375, 0.5, 1), (-1.5, 2, 0), (2.5, 1, 0)])
def test_broken_powers(power, scale, shift):
    check_layer(
        LayerCase(
            layer(power, scale, shift),
            [np.random.default_rng(0).uniform(0.3, 3, (2, 3, 4))],
            reference=lambda x: (shift + scale * x) ** power,
            tolerance=1e-5,
        )
    )


def test_a_negative_base_with_a_broken_power_is_nan():
    run = LayerRun(LayerCase(layer(0.375, 1, 0), [np.array([-1.0, 1.0])]), np.float32)
    np.testing.assert_array_equal(run.forward()[0], [np.nan, 1])
    constant = LayerCase(layer(0.5, 0, -2), [np.array([1.0])])
    assert np.isnan(LayerRun(constant).forward()[0][0])


@pytest.mark.parametrize(("power", "shift", "at"), [(3, 0, 0), (3, 2, -2), (0.5, 0, 0)])
def test_the_quotient_is_nan_where_the_base_is_zero(power, shift, at):
    run = LayerRun(LayerCase(layer(power, 1, shift), [np.array([at, 1.0])]))
    assert run.forward()[0][0] == 0
    run.backward([np.ones(2)], [True])
    gradient = run.bottom[0].blob.diff
    assert np.isnan(gradient[0])
    np.testing.assert_allclose(gradient[1], power * (1 + shift) ** (power - 1))


def test_squares_have_a_gradient_everywhere():
    run = LayerRun(LayerCase(layer(2, 3, 1), [np.array([-1 / 3, 0.0])]))
    run.forward()
    run.backward([np.ones(2)], [True])
    np.testing.assert_allclose(run.bottom[0].blob.diff, [0, 6], atol=1e-15)


def test_power_zero_of_zero_is_one_and_has_no_gradient():
    run = LayerRun(LayerCase(layer(0, 1, 0), [np.zeros(2)]))
    np.testing.assert_array_equal(run.forward()[0], [1, 1])
    run.backward([np.full(2, np.inf)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [0, 0])


@pytest.mark.parametrize(
    ("power", "slope"), [(1, lambda y: 0 * y + 2), (2, lambda y: 4 * (2 * y)), (0, lambda y: 0 * y)]
)
def test_in_place_the_slope_is_squared(power, slope):
    run = LayerRun(LayerCase(layer(power, 2, 0), [np.array([1.0, 3.0])]), in_place=True)
    y = run.forward()[0]
    np.testing.assert_array_equal(y, np.array([2.0, 6.0]) ** power)
    run.backward([np.full(2, 7.0)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, slope(y) ** 2)
