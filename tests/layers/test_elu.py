import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def elu(x, alpha):
    return np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1))


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.0])
def test_values_and_gradient(alpha):
    check_layer(
        LayerCase(
            f'type: "ELU" elu_param {{ alpha: {alpha} }}',
            [(2, 3, 4)],
            reference=lambda x: elu(x, alpha),
            kink=0.0,
            in_place=True,
        )
    )


def test_alpha_is_one_by_default():
    x = np.array([-2.0, 3.0])
    np.testing.assert_allclose(LayerRun(LayerCase('type: "ELU"', [x])).forward()[0], elu(x, 1.0))


def test_gradient_at_zero_is_alpha():
    run = LayerRun(LayerCase('type: "ELU" elu_param { alpha: 0.25 }', [np.zeros(1)]))
    run.forward()
    run.backward([np.full(1, 8.0)], [True])
    assert run.bottom[0].blob.diff[0] == 2


def test_does_not_overflow():
    run = LayerRun(LayerCase('type: "ELU"', [np.array([1e4, -1e4])]), np.float32)
    np.testing.assert_array_equal(run.forward()[0], np.array([1e4, -1], np.float32))
