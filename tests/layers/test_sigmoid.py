import numpy as np
import pytest

from pycaffe_dist.testing import LayerCase, LayerRun, check_layer


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_sigmoid():
    check_layer(LayerCase('type: "Sigmoid"', [(2, 3, 4)], reference=sigmoid, in_place=True))


@pytest.mark.parametrize("beta", [1.0, 0.0, -0.5, 1.5])
def test_swish(beta):
    check_layer(
        LayerCase(
            f'type: "Swish" swish_param {{ beta: {beta} }}',
            [(2, 3, 4)],
            reference=lambda x: x * sigmoid(beta * x),
            in_place=True,
        )
    )


def test_beta_is_one_by_default():
    x = np.array([-2.0, 3.0])
    y = LayerRun(LayerCase('type: "Swish"', [x])).forward()[0]
    np.testing.assert_allclose(y, x * sigmoid(x))


@pytest.mark.parametrize(("kind", "limits"), [("Sigmoid", [0, 1]), ("Swish", [0, 1e4])])
def test_far_from_zero(kind, limits):
    run = LayerRun(LayerCase(f'type: "{kind}"', [np.array([-1e4, 1e4])]), np.float32)
    np.testing.assert_array_equal(run.forward()[0], np.array(limits, np.float32))
    run.backward([np.ones(2)], [True])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [0, kind == "Swish"])
