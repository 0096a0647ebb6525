import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "Reduction" reduction_param { %s }'
OPERATIONS = {
    "SUM": np.sum,
    "ASUM": lambda x, axis: np.abs(x).sum(axis),
    "SUMSQ": lambda x, axis: np.square(x).sum(axis),
    "MEAN": np.mean,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("coeff", [1, 2.3])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_operations(operation, coeff, axis):
    reduced = tuple(range(axis % 3, 3))
    check_layer(
        LayerCase(
            LAYER % f"operation: {operation} coeff: {coeff} axis: {axis}",
            [(2, 3, 4)],
            reference=lambda x: np.float32(coeff) * OPERATIONS[operation](x, axis=reduced),
            kink=0.0,
            tolerance=1e-5,
        )
    )


def test_default_is_the_sum_of_all():
    assert LayerRun(LayerCase(LAYER % "", [np.ones((2, 3))])).forward()[0] == 6


def test_sign_of_zero():
    run = LayerRun(LayerCase(LAYER % "operation: ASUM", [np.array([-2.0, 0, 3])]))
    run.forward()
    run.backward([np.array(5.0)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [-5, 0, 5])


def test_the_mean_follows_the_shape():
    run = LayerRun(LayerCase(LAYER % "operation: MEAN axis: 1", [(2, 3)]))
    run.bottom[0].reshape(2, 8)
    run.inputs = [np.ones((2, 8))]
    np.testing.assert_array_equal(run.forward()[0], [1, 1])


def test_axis_out_of_range():
    with pytest.raises(NetError, match="axis 2 is out of range"):
        LayerRun(LayerCase(LAYER % "axis: 2", [(2, 3)]))
