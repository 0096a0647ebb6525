import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "MultinomialLogisticLoss"'
LABELS = np.array([2.0, 0, 2])


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 1, 1)])
@pytest.mark.parametrize("tail", [(), (1,)])
def test_values_and_gradient(shape, tail):
    p = np.random.default_rng(0).uniform(0.1, 1, shape)
    check_layer(
        LayerCase(
            LAYER,
            [p, LABELS.reshape(3, *tail)],
            reference=lambda p, _: np.array(
                -np.mean([np.log(p[i].ravel()[int(LABELS[i])]) for i in range(3)])
            ),
        )
    )


def test_least_probability():
    p = np.array([[0.0, 1], [1, 0]])
    run = LayerRun(LayerCase(LAYER, [p, np.array([0.0, 0])]), np.float32)
    np.testing.assert_allclose(run.forward()[0], -np.log(1e-20) / 2, rtol=1e-6)
    run.bottom[0].blob.diff[...] = 7  # to be overwritten
    run.backward([np.array(1.0)], [True, False])
    np.testing.assert_allclose(run.bottom[0].blob.diff, [[-0.5e20, 0], [-0.5, 0]], rtol=1e-6)


def test_certainty_is_no_loss():
    loss = LayerRun(LayerCase(LAYER, [np.ones((2, 1)), np.zeros(2)])).forward()[0]
    assert loss == 0
    assert not np.signbit(loss)


def test_labels_are_one_for_each_item():
    with pytest.raises(NetError, match=r"needs 3 labels, .* found the shape \(3, 2\)"):
        LayerRun(LayerCase(LAYER, [(3, 5), np.zeros((3, 2))]))
