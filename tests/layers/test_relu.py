import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


@pytest.mark.parametrize("slope", [0.0, 0.1, -0.5, 2.0])
def test_relu(slope):
    check_layer(
        LayerCase(
            f'type: "ReLU" relu_param {{ negative_slope: {slope} }}',
            [(2, 3, 4)],
            reference=lambda x: np.where(x > 0, x, np.float32(slope) * x),
            kink=0.0,
            in_place=slope >= 0,
        )
    )


@pytest.mark.parametrize("slope", [0.0, 0.25])
def test_gradient_at_zero_is_the_slope(slope):
    case = LayerCase(f'type: "ReLU" relu_param {{ negative_slope: {slope} }}', [np.zeros(1)])
    run = LayerRun(case)
    run.forward()
    run.backward([np.full(1, 8.0)], [True])
    assert run.bottom[0].blob.diff[0] == 8 * slope
