import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "HingeLoss" hinge_loss_param { %s }'
LABELS = np.array([3.0, 0, 1, 4, 2])


def margins(x, labels):
    rows = x.reshape(len(x), -1)
    h = np.empty_like(rows)
    for i, j in np.ndindex(*rows.shape):
        t = 1 if j == int(labels.reshape(-1)[i]) else -1
        h[i, j] = max(0.0, 1 - t * rows[i, j])
    return h


@pytest.mark.parametrize(("settings", "power"), [("", 1), ("norm: L1", 1), ("norm: L2", 2)])
@pytest.mark.parametrize("shape", [(5, 5), (5, 2, 3, 2)])
@pytest.mark.parametrize("tail", [(), (1, 1, 1)])
def test_values_and_gradient(settings, power, shape, tail):
    x = np.random.default_rng(0).standard_normal(shape) * 2
    x[np.abs(np.abs(x) - 1) < 0.01] = 0  # away from the kink
    check_layer(
        LayerCase(
            LAYER % settings,
            [x, LABELS.reshape(5, *tail)],
            reference=lambda x, t: np.array((margins(x, t) ** power).sum() / len(x)),
        )
    )


def test_forward_leaves_the_margins_in_the_diff():
    run = LayerRun(LayerCase(LAYER % "", [(5, 5), LABELS]))
    run.forward()
    np.testing.assert_allclose(run.bottom[0].blob.diff, margins(run.inputs[0], LABELS))


def test_labels_are_one_for_each_item():
    with pytest.raises(NetError, match=r"needs 5 labels, .* found the shape \(5, 2\)"):
        LayerRun(LayerCase(LAYER % "", [(5, 5), np.zeros((5, 2))]))
