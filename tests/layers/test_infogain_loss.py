import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.weights import write_binaryproto
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "InfogainLoss" %s'
RNG = np.random.default_rng(1701)
GAINS = RNG.uniform(0, 1, (5, 5))
LABELS = RNG.integers(0, 5, (4, 2, 2)).astype(float)


def by_hand(x, labels, gains, axis=1, ignore=None, n=None):
    """Loss and probabilities."""
    e = np.exp(x)
    p = e / e.sum(axis=axis, keepdims=True)
    rows = np.moveaxis(p, axis, -1).reshape(-1, x.shape[axis])
    total, counted = 0.0, 0
    for row, label in zip(rows, labels.reshape(-1), strict=True):
        if int(label) != ignore:
            total -= (gains.reshape(len(row), -1)[int(label)] * np.log(row)).sum()
            counted += 1
    return np.array(total / (n or max(1, counted))), p


@pytest.mark.parametrize(
    ("settings", "ignore", "n"),
    [
        ("", None, 16),
        ("loss_param { normalization: FULL }", None, 16),
        ("loss_param { normalization: BATCH_SIZE }", None, 8),  # what is before axis 2
        ("loss_param { normalization: NONE }", None, 1),
        ("loss_param { ignore_label: 3 }", 3, None),
        ("loss_param { ignore_label: 3 normalization: FULL }", 3, 16),
    ],
)
def test_values_and_gradient(settings, ignore, n):
    check_layer(
        LayerCase(
            LAYER % ("infogain_loss_param { axis: 2 } " + settings),
            [(4, 2, 5, 2), LABELS, GAINS.reshape(1, 1, 5, 5)],
            reference=lambda x, y, h: by_hand(x, y, h, 2, ignore, n)[0],
            bottoms=[0],
        )
    )


@pytest.mark.parametrize("weights", ["loss_weight: 1 loss_weight: 0", ""])
def test_probabilities_as_second_top(weights):
    inputs = [(4, 5), np.array([0.0, 4, 2, 2]), GAINS]
    run = LayerRun(LayerCase(LAYER % weights, inputs, tops=2))
    loss, prob = run.forward()
    want, want_prob = by_hand(run.inputs[0], run.inputs[1], GAINS)
    np.testing.assert_allclose(loss, want)
    np.testing.assert_allclose(prob, want_prob)
    assert run.layer.loss == [1, 0]


def test_gains_from_a_file(tmp_path):
    path = tmp_path / "gains.binaryproto"
    write_binaryproto(path, GAINS.astype(np.float32))
    check_layer(
        LayerCase(
            LAYER % f'infogain_loss_param {{ source: "{path}" }}',
            [(4, 5), np.array([0.0, 4, 2, 2])],
            reference=lambda x, y: by_hand(x, y, GAINS.astype(np.float32))[0],
        )
    )


def test_identity_is_the_softmax_loss():
    inputs = [RNG.standard_normal((4, 5)), np.array([0.0, 4, 2, 2])]
    a = LayerRun(LayerCase(LAYER % "", [*inputs, np.eye(5)])).forward()[0]
    b = LayerRun(LayerCase('type: "SoftmaxWithLoss"', inputs)).forward()[0]
    np.testing.assert_allclose(a, b)


def test_least_probability():
    inputs = [np.array([[1000.0, 0]]), np.ones(1), np.eye(2)]
    run = LayerRun(LayerCase(LAYER % "", inputs), np.float32)
    np.testing.assert_allclose(run.forward()[0], -np.log(1e-20), rtol=1e-6)


def test_the_old_normalize_is_refused():
    for value in ("true", "false"):
        with pytest.raises(NetError, match="does not take the old normalize"):
            layer = LAYER % f"loss_param {{ normalize: {value} }}"
            LayerRun(LayerCase(layer, [(4, 5), np.zeros(4), GAINS]))


def test_gains_are_needed(tmp_path):
    with pytest.raises(NetError, match="a third bottom, or a file as source"):
        LayerRun(LayerCase(LAYER % "", [(4, 5), np.zeros(4)]))
    with pytest.raises(NetError, match=r'layer "case".*nowhere: cannot be read'):
        layer = LAYER % f'infogain_loss_param {{ source: "{tmp_path}/nowhere" }}'
        LayerRun(LayerCase(layer, [(4, 5), np.zeros(4)]))
    with pytest.raises(
        NetError, match=r"5 classes need a matrix of 25 gains, found 16 in \(4, 4\)"
    ):
        LayerRun(LayerCase(LAYER % "", [(4, 5), np.zeros(4), (4, 4)]))


def test_gains_have_no_gradient():
    run = LayerRun(LayerCase(LAYER % "", [(4, 5), np.zeros(4), GAINS]))
    run.forward()
    with pytest.raises(NetError, match="matrix of gains a gradient"):
        run.backward([np.array(1.0)], [True, False, True])
