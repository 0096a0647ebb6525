import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "SigmoidCrossEntropyLoss" loss_param { %s }'
TARGETS = np.array([[0, 1, 0.3, 1, -1, 0.5], [1.7, 0, 1, 0, 0.99, -0.4]])


def by_hand(x, t, ignore=None, n=1):
    s = 1 / (1 + np.exp(-x.ravel()))
    terms = [
        -t * np.log(p) - (1 - t) * np.log(1 - p)
        for p, t in zip(s, t.ravel(), strict=True)
        if int(t) != ignore
    ]
    return np.array(sum(terms) / n)


@pytest.mark.parametrize(
    ("settings", "ignore", "n"),
    [
        ("", None, 2),  # the batch size
        ("normalization: FULL", None, 12),
        ("normalization: VALID", None, 12),
        ("normalization: NONE", None, 1),
        ("normalize: true", None, 12),
        ("normalize: false", None, 2),
        ("normalize: true normalization: NONE", None, 1),
        # int() of a target is compared: 0.3, 0.5, 0.99 and -0.4 are 0, and 1.7 is 1.
        ("ignore_label: 0", 0, 2),
        ("ignore_label: 0 normalization: VALID", 0, 5),
        ("ignore_label: 1 normalization: VALID", 1, 8),
        ("ignore_label: -1 normalization: VALID", -1, 11),
        ("ignore_label: -1 normalization: FULL", -1, 12),
        ("ignore_label: 8 normalization: VALID", 8, 12),
    ],
)
def test_values_and_gradient(settings, ignore, n):
    check_layer(
        LayerCase(
            LAYER % settings,
            [(2, 6), TARGETS],
            reference=lambda x, t: by_hand(x, t, ignore, n),
        )
    )


def test_shapes_may_differ_if_the_counts_agree():
    check_layer(
        LayerCase(LAYER % "", [(2, 3, 2), TARGETS], reference=lambda x, t: by_hand(x, t, None, 2))
    )
    with pytest.raises(NetError, match=r"as many values, found \(2, 6\) and \(2, 5\)"):
        LayerRun(LayerCase(LAYER % "", [(2, 6), (2, 5)]))


def test_all_ignored():
    run = LayerRun(
        LayerCase(LAYER % "ignore_label: 1 normalization: VALID", [(2, 3), np.ones((2, 3))])
    )
    assert run.forward()[0] == 0
    run.backward([np.array(1.0)], [True, False])
    assert (run.bottom[0].blob.diff == 0).all()


def test_large_inputs():
    x = np.array([[1e4, -1e4, 1e4, -1e4]])
    run = LayerRun(LayerCase(LAYER % "", [x, np.array([[1.0, 0, 0, 1]])]), np.float32)
    assert run.forward()[0] == 2e4
    run.backward([np.array(1.0)], [True, False])
    np.testing.assert_array_equal(run.bottom[0].blob.diff, [[0, 0, 1, -1]])
