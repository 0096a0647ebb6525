import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "ContrastiveLoss" contrastive_loss_param { %s }'


def by_hand(a, b, similar, margin=1.0, legacy=False):
    total = 0.0
    for x, y, s in zip(a, b, similar.reshape(-1), strict=True):
        square = ((x - y) ** 2).sum()
        if int(s):
            total += square
        elif legacy:
            total += max(0.0, margin - square)
        else:
            total += max(0.0, margin - square**0.5) ** 2
    return total / 2 / len(a)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("margin", [1.0, 3.5])
@pytest.mark.parametrize("tail", [(), (1, 1)])
def test_values_and_gradient(legacy, margin, tail):
    similar = np.random.default_rng(0).integers(0, 2, (8, *tail[:1])).astype(float)
    check_layer(
        LayerCase(
            LAYER % f"margin: {margin} legacy_version: {str(legacy).lower()}",
            [(8, 3, *tail), (8, 3, *tail), similar],
            reference=lambda a, b, s: np.array(by_hand(a, b, s, margin, legacy)),
            tolerance=1e-6 if legacy else 1e-3,  # 1e-4 is added to the distance
        )
    )


def test_gradient_of_a_pair():
    a, b = np.array([[0.3, 0.4]] * 3), np.zeros((3, 2))
    run = LayerRun(LayerCase(LAYER % "", [a, b, np.array([0.0, 1, 0.9])]))
    run.forward()
    run.backward([np.array(1.0)], [True, True, False])
    apart = -(1 - 0.5) / (0.5 + 1e-4)
    want = np.array([apart, 1, apart])[:, None] * a / 3
    np.testing.assert_allclose(run.bottom[0].blob.diff, want)
    np.testing.assert_array_equal(run.bottom[1].blob.diff, -run.bottom[0].blob.diff)


def test_equal_vectors_have_no_direction():
    run = LayerRun(LayerCase(LAYER % "", [np.ones((2, 3)), np.ones((2, 3)), np.zeros(2)]))
    assert run.forward()[0] == 0.5
    run.backward([np.array(1.0)], [True, True, False])
    assert (run.bottom[0].blob.diff == 0).all()


def test_force_backward_leaves_the_labels_alone():
    layer = LayerRun(LayerCase(LAYER % "", [(2, 3), (2, 3), (2,)])).layer
    assert [layer.force_backward_allowed(i) for i in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 3), (2, 4), (2,)], r"of one shape, found \(2, 3\) and \(2, 4\)"),
        ([(2, 3, 2), (2, 3, 2), (2,)], "compares vectors"),
        ([(2, 3), (2, 3), (2, 2)], r"needs 2 labels, one for each pair, found the shape \(2, 2\)"),
        ([(2, 3), (2, 3), (1,)], "needs 2 labels"),
    ],
)
def test_shapes_refused(shapes, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(LAYER % "", shapes))
