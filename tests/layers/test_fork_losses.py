"""Losses that forks added, and neurons that draw."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.caffe_pb2 import LayerParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.registry import reading
from pycaffe_dist.testing import LayerCase, LayerRun, check_layer

RNG = np.random.default_rng(13)
LABELS = np.array([2.0, 0.0, 4.0, 2.0, 1.0, 0.0])


def own_probability(x):
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    return p[np.arange(6), LABELS.astype(int)]


@pytest.mark.parametrize(
    ("param", "alpha", "gamma"), [("", 0.25, 2), ("alpha: 0.5 gamma: 1", 0.5, 1)]
)
def test_focal_loss(param, alpha, gamma):
    def reference(x, _):
        p = own_probability(x)
        return np.array((-alpha * (1 - p) ** gamma * np.log(p)).mean())

    layer = f'type: "FocalLoss" focal_loss_param {{ {param} }}'
    check_layer(LayerCase(layer, [(6, 5), LABELS], reference=reference))


@pytest.mark.parametrize(("kind", "sign"), [("ORIGIN", -1), ("LINEAR", -1), ("ONEADDP", 1)])
def test_happynears_focal_loss(kind, sign):
    def reference(x, _):
        p = own_probability(x)
        return np.array((-((1 + sign * p) ** 2) * np.log(p)).mean())

    layer = f'type: "FocalLoss" focal_loss_param {{ type: {kind} alpha: 1 }}'
    check_layer(LayerCase(layer, [(6, 5), LABELS], reference=reference))


def test_a_label_that_is_ignored_does_not_count_in_a_focal_loss():
    x = RNG.standard_normal((6, 5))
    layer = 'type: "FocalLoss" loss_param { ignore_label: 2 }'
    run = LayerRun(LayerCase(layer, [x, LABELS]))
    p = own_probability(x)[LABELS != 2]
    np.testing.assert_allclose(run.forward()[0], (-0.25 * (1 - p) ** 2 * np.log(p)).mean())
    check_layer(LayerCase(layer, [x, LABELS]))


def test_dice_coef_loss():
    p, g = RNG.uniform(0, 1, (2, 3, 4)), (RNG.uniform(0, 1, (2, 3, 4)) > 0.5).astype(float)

    def reference(p, g):
        return np.array(1 - (2 * (p * g).sum() + 1) / (p.sum() + g.sum() + 1))

    check_layer(LayerCase('type: "DiceCoefLoss"', [p, g], reference=reference))


def test_softmax_cross_entropy_loss():
    t = RNG.dirichlet(np.ones(4), (3, 2)).swapaxes(1, 2).copy()
    t[0, :, 0] = [0, 0.5, 0.5, 0]

    def reference(x, t):
        p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        safe = np.where(t > 0, t, 1)
        return np.array((t * (np.log(safe) - np.log(p))).sum() / 3)

    layer = 'type: "SoftmaxCrossEntropyLoss"'
    check_layer(LayerCase(layer, [(3, 4, 2), t], reference=reference))


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_weighted_euclidean_loss(shape):
    w = RNG.uniform(0, 2, shape)

    def reference(a, b, w):
        return np.array((w.reshape(4, -1) * (a - b) ** 2).sum() / 8)

    layer = 'type: "WeightedEuclideanLoss"'
    check_layer(LayerCase(layer, [(4, 3), (4, 3), w], reference=reference))


def test_deepbit():
    x = RNG.uniform(0, 1, (4, 3))
    bits = (x > 0.5).astype(float)
    even, sure = (
        LayerRun(LayerCase(f'type: "{t}Loss"', [x, x])) for t in ("EvenDist", "MinQuantize")
    )
    off = bits.mean(0) - 0.5
    np.testing.assert_allclose(even.forward()[0], (off**2).sum() / 8)
    np.testing.assert_allclose(sure.forward()[0], ((bits - x) ** 2).sum() / 8)
    for run in (even, sure):
        run.backward([np.array(2.0)], [True, True])
        assert (run.bottom[1].blob.diff == 0).all()
    np.testing.assert_allclose(even.bottom[0].blob.diff, 2 * off.sum() / 48)
    np.testing.assert_allclose(sure.bottom[0].blob.diff, -2 * ((bits - x) * x).sum() / 48)


def test_transform_loss():
    a, b = RNG.standard_normal((2, 4, 3))
    v, w = RNG.uniform(0, 1, (2, 4))
    run = LayerRun(LayerCase('type: "TransformLoss"', [a, b, v, w]))
    np.testing.assert_allclose(run.forward()[0], (v * w * ((a - b) ** 2).sum(1)).sum() / 8)
    run.backward([np.array(1.0)], [True, True, False, False])
    np.testing.assert_allclose(run.bottom[0].blob.diff, (a - b) / 4)
    np.testing.assert_allclose(run.bottom[1].blob.diff, (b - a) / 4)


EDGES = 'type: "SigmoidCrossEntropyLoss"'


def test_heds_loss_balances_edges_and_the_rest(monkeypatch):
    t = (RNG.uniform(0, 1, (3, 1, 4, 4)) > 0.8).astype(float)

    def reference(x, t):
        entropy = np.log1p(np.exp(-abs(x))) + x * ((x >= 0) - t)
        edges = t.mean((1, 2, 3), keepdims=True)
        return np.array((entropy * np.where(t == 1, 1 - edges, edges)).sum() / 3)

    assert reading(parse_text(EDGES, LayerParameter()).message).dialect == "bvlc"
    monkeypatch.setenv("PCD_DIALECT", "hed")
    check_layer(LayerCase(EDGES, [(3, 1, 4, 4), t], reference=reference))


def test_heds_loss_leaves_other_targets_out_of_the_value_only(monkeypatch):
    monkeypatch.setenv("PCD_DIALECT", "hed")
    run = LayerRun(LayerCase(EDGES, [np.zeros((1, 4)), np.array([[1.0, 0.0, 0.0, 0.5]])]))
    np.testing.assert_allclose(run.forward()[0], np.log(2) * (2 / 3 + 2 / 3))
    run.backward([np.array(1.0)], [True, False])
    np.testing.assert_allclose(run.bottom[0].blob.diff, [[-1 / 3, 1 / 6, 1 / 6, 0]])


# -- neurons that draw, and others -----------------------------------------------------------------


@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_insanity(phase):
    layer = 'type: "Insanity" insanity_param { lb: 3 ub: 5 }'
    check_layer(LayerCase(layer, [(4, 5)], phase=phase, kink=0.0, in_place=True))
    y = LayerRun(LayerCase(layer, [np.array([2.0, -3.0] * 50)], phase=phase)).forward()[0]
    assert (y[::2] == 2).all()
    if phase == "TRAIN":
        assert ((y[1::2] <= -0.6) & (y[1::2] >= -1)).all()
        assert len(np.unique(y[1::2])) > 40
    else:
        np.testing.assert_allclose(y[1::2], -3 * np.log(5 / 3) / 2)


def test_insanity_refuses_a_leak_of_nothing():
    with pytest.raises(NetError, match="0 < lb <= ub"):
        LayerRun(LayerCase('type: "Insanity" insanity_param { lb: 0 }', [(2,)]))


@pytest.mark.parametrize("kind", ["deterministic", "stochastic"])
@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_guided_dropout(kind, phase):
    layer = f'type: "GuidedDropout" guided_dropout_param {{ type: "{kind}" }}'
    g = np.array([[1.0, -1, 2, -2], [-3.0, 30, -3, 30]])[:, :, None, None]
    check_layer(LayerCase(layer, [(2, 4, 3, 2), g], phase=phase, in_place=True))
    y = LayerRun(LayerCase(layer, [np.ones((2, 4, 3, 2)), g], phase=phase)).forward()[0]
    y = y.reshape(2, 4, 6)
    assert (y == y[:, :, :1]).all()
    if kind == "deterministic":
        np.testing.assert_array_equal(y[:, :, 0], [[2, 0, 2, 0], [0, 2, 0, 2]])
    elif phase == "TEST":
        assert (y == 1).all()
    else:
        chance = 1 / (1 + np.exp(-g[:, :, 0, 0]))
        kept = 4 / chance.sum(1, keepdims=True)
        np.testing.assert_allclose(y[1, [1, 3], 0], kept[1, 0])
        assert np.isclose(y[:, :, 0], kept * np.ones((1, 4))).any()


def test_grn():
    def reference(x):
        return x / np.sqrt((x**2).sum(1, keepdims=True) + np.float32(1e-7))

    check_layer(LayerCase('type: "GRN"', [(2, 3, 4)], reference=reference, in_place=True))


def test_color_conv():
    """Colours whose Lab values are in every table."""
    bgr = np.array([[255, 255, 255], [0, 0, 0], [0, 0, 255], [255, 0, 0], [0, 255, 0]], float)
    lab = [
        [100, 0, 0],
        [0, 0, 0],
        [53.24, 80.09, 67.20],
        [32.30, 79.19, -107.86],
        [87.73, -86.18, 83.18],
    ]
    layer = 'type: "ColorConv" color_conv_param { input: 0 output: 3 }'
    y = LayerRun(LayerCase(layer, [bgr[:, :, None, None]])).forward()[0]
    np.testing.assert_allclose(y[:, :, 0, 0], lab, atol=0.02)
    with pytest.raises(NetError, match=r"from BGR .0. to Lab .3. only"):
        LayerRun(LayerCase('type: "ColorConv"', [(1, 3, 2, 2)]))


def sampled_softmax(policy, settings=""):
    return f"""type: "RandomSamplingSoftmaxLoss" rss_loss_param {{ random_sampling_num: 3
        random_sampling_policy: "{policy}" }} {settings}"""


def test_softmax_over_the_classes_with_the_largest_scores():
    """Label 1 and the last class, then class 3 with the largest score of the others."""
    scores, labels = np.array([[2.0, 0.5, 1.0, 3.0, -1.0]] * 2), np.array([1.0, 9.0])

    def reference(x):
        own = np.exp(x[0, [1, 4, 3]])
        return -np.log(own[0] / own.sum())

    case = LayerCase(sampled_softmax("topk", "loss_param { ignore_label: 9 }"), [scores, labels])
    case.bottoms, case.reference = [0], lambda x, _: reference(x)
    check_layer(case)
    run = LayerRun(case)
    run.forward()
    run.backward([np.ones(())], [True, False])
    gradient = run.bottom[0].blob.diff
    assert (gradient[0] != 0).tolist() == [False, True, False, True, True]
    assert not gradient[1].any()


def test_softmax_over_classes_that_are_drawn():
    """Always the label and the last class, and every other as often as the rest."""
    scores, labels = np.zeros((600, 6)), np.full(600, 2.0)
    run = LayerRun(LayerCase(sampled_softmax("random"), [scores, labels]))
    assert run.forward()[0] == pytest.approx(np.log(3))
    run.backward([np.ones(())], [True, False])
    chosen = run.bottom[0].blob.diff != 0
    assert chosen[:, [2, 5]].all()
    assert (chosen.sum(1) == 3).all()
    assert abs(chosen[:, [0, 1, 3, 4]].mean(0) - 0.25).max() < 0.07


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (sampled_softmax("best"), 'random_sampling_policy is "random" or "topk", found "best"'),
        (sampled_softmax("topk").replace("3", "6"), "2 to below the 6 classes, found 6"),
    ],
)
def test_wrong_samplings(layer, message):
    with pytest.raises(NetError, match=message):
        LayerRun(LayerCase(layer, [(2, 6), np.zeros(2)]))
