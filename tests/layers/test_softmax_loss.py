import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.proto.caffe_pb2 import NetParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

LAYER = 'type: "SoftmaxWithLoss" %s'
RNG = np.random.default_rng(1701)
LABELS = RNG.integers(0, 5, (3, 2, 2)).astype(float)
NUM_3 = int((LABELS == 3).sum())


def by_hand(x, labels, axis=1, ignore=None, n=1):
    rows = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    total = 0.0
    for row, label in zip(rows, labels.reshape(-1), strict=True):
        if int(label) != ignore:
            total += np.log(np.exp(row).sum()) - row[int(label)]
    return np.array(total / n)


@pytest.mark.parametrize(
    ("settings", "ignore", "n"),
    [
        ("", None, 12),
        ("normalization: FULL", None, 12),
        ("normalization: BATCH_SIZE", None, 3),
        ("normalization: NONE", None, 1),
        ("normalize: true", None, 12),
        ("normalize: false", None, 3),
        ("normalize: false normalization: FULL", None, 12),
        ("ignore_label: 3", 3, 12 - NUM_3),
        ("ignore_label: 3 normalize: true", 3, 12 - NUM_3),
        ("ignore_label: 3 normalize: false", 3, 3),
        ("ignore_label: 3 normalization: FULL", 3, 12),
        ("ignore_label: 3 normalization: NONE", 3, 1),
        ("ignore_label: 255", 255, 12),
    ],
)
def test_normalization(settings, ignore, n):
    assert 0 < NUM_3 < 12
    check_layer(
        LayerCase(
            LAYER % f"loss_param {{ {settings} }}",
            [(3, 5, 2, 2), LABELS],
            reference=lambda x, y: by_hand(x, y, 1, ignore, n),
        )
    )


@pytest.mark.parametrize(
    ("axis", "shape", "labels", "outer"),
    [
        (1, (3, 5), (3,), 3),
        (1, (3, 5), (3, 1, 1, 1), 3),
        (1, (3, 5, 4), (3, 1, 4), 3),
        (2, (3, 2, 5), (3, 2), 6),
        (-1, (3, 2, 5), (3, 2), 6),
        (0, (5, 5), (5,), 1),
    ],
)
def test_axis(axis, shape, labels, outer):
    check_layer(
        LayerCase(
            LAYER % f"softmax_param {{ axis: {axis} }} loss_param {{ normalization: BATCH_SIZE }}",
            [shape, RNG.integers(0, 5, labels)],
            reference=lambda x, y: by_hand(x, y, axis, None, outer),
        )
    )


def test_ignoring_each_label_in_turn_adds_up():
    inputs = [RNG.standard_normal((3, 5, 2, 2)), LABELS]
    layer = LAYER % "loss_param { normalization: FULL %s }"
    whole = LayerRun(LayerCase(layer % "", inputs)).forward()[0]
    parts = [
        LayerRun(LayerCase(layer % f"ignore_label: {k}", inputs)).forward()[0] for k in range(5)
    ]
    np.testing.assert_allclose(sum(parts), 4 * whole)


def test_ignored_positions_have_no_gradient():
    labels = np.array([[255.0, 0], [1, 255]])
    layer = LAYER % "loss_param { ignore_label: 255 }"
    run = LayerRun(LayerCase(layer, [(2, 3, 2), labels]))
    run.forward()
    run.backward([np.array(1.0)], [True, False])
    np.testing.assert_array_equal((run.bottom[0].blob.diff != 0).all(axis=1), labels != 255)


def test_all_ignored():
    layer = LAYER % "loss_param { ignore_label: 0 }"
    run = LayerRun(LayerCase(layer, [(4, 3), np.zeros(4)]))
    loss = run.forward()[0]
    assert loss == 0
    assert not np.signbit(loss)
    run.backward([np.array(1.0)], [True, False])
    assert (run.bottom[0].blob.diff == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_loss(dtype):
    run = LayerRun(LayerCase(LAYER % "", [np.array([[1000.0, 0]]), np.ones(1)]), dtype)
    assert f"{float(run.forward()[0]):.4f}" == "87.3365"


def test_labels_are_cut_off():
    run = LayerRun(LayerCase(LAYER % "", [np.array([[0, np.log(3)]] * 2), np.array([1.9, -0.9])]))
    np.testing.assert_allclose(run.forward()[0], (np.log(4 / 3) + np.log(4)) / 2)


@pytest.mark.parametrize("weights", ["", "loss_weight: 2 loss_weight: 0"])
def test_probabilities_as_second_top(weights):
    text = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 3 dim: 4 } } }
    layer { name: "y" type: "Input" top: "y" input_param { shape { dim: 3 } } }
    layer { name: "L" type: "SoftmaxWithLoss" bottom: "x" bottom: "y" top: "loss" top: "prob" %s }
    force_backward: true
    """
    net = Net(parse_text(text % weights, NetParameter()).message)
    x, y, loss, prob = (net.blobs[net.blob_ids[n]] for n in ("x", "y", "loss", "prob"))
    x.data[...] = RNG.standard_normal((3, 4))
    y.data[...] = [1, 0, 3]
    weight = 2 if weights else 1
    want = by_hand(x.data, y.data, n=3)
    np.testing.assert_allclose(float(net.forward()), weight * want, rtol=1e-6)
    np.testing.assert_allclose(loss.data, want, rtol=1e-6)
    e = np.exp(x.data)
    p = e / e.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(prob.data, p, rtol=1e-5)
    net.backward()
    p[[0, 1, 2], [1, 0, 3]] -= 1
    np.testing.assert_allclose(x.diff, weight * p / 3, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("settings", "tops", "labels", "message"),
    [
        ("loss_weight: 1 loss_weight: 1", 2, (3,), "second top, the probabilities, cannot have"),
        ("loss_weight: 1", 2, (3,), "1 loss_weight for 2 tops"),
        ("", 3, (3,), "takes 1 to 2 top"),
        ("", 1, (3, 2), r"shape \(3, 5\) .* axis 1 take 3 labels, found 6 in \(3, 2\)"),
        ("softmax_param { axis: 2 }", 1, (3,), "axis 2 is out of range"),
    ],
)
def test_refused(settings, tops, labels, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(LAYER % settings, [(3, 5), np.zeros(labels)], tops=tops))
