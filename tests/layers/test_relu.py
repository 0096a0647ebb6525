import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, check_layer


@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_relu(slope):
    check_layer(
        LayerCase(
            f'type: "ReLU" relu_param {{ negative_slope: {slope} }}',
            [(2, 3, 4)],
            reference=lambda x: np.where(x > 0, x, np.float32(slope) * x),
            kink=0.0,
            in_place=True,
        )
    )
