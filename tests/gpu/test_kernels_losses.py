"""Losses and Accuracy: kernels give what the generic layers give."""

import numpy as np
import pytest

from pycaffe_dist.testing.kernels import layer_numbers, numbers_of

RNG = np.random.default_rng(5)
SHAPE = OUTER, CLASSES, INNER = 4, 5, 6
X = RNG.standard_normal(SHAPE) * 4
LABELS = RNG.integers(0, CLASSES, (OUTER, INNER)).astype(float)
LABELS[0, 1] = 2.9  # cut off to 2
NONE_AND_TWO = [None, 255, 2]  # labels that are ignored: none, one that is no class, one that is
MODES = {"FULL": OUTER * INNER, "BATCH_SIZE": OUTER, "NONE": 1, "VALID": 0}
POSITIONS = OUTER * INNER


def labels_for(ignore):
    labels = LABELS.copy()
    if ignore is not None:
        labels[1, :3] = labels[3, 3] = ignore
    return labels


def said(ignore):
    return "" if ignore is None else f"ignore_label: {ignore}"


def flags_for(ignore):
    return int(ignore is not None), ignore or 0


def weight_of(run, want):
    return run.array(want.top_diffs[0].reshape(1))


def prob_of(run, x=X):
    y = run.empty(*x.shape)
    inner = int(np.prod(x.shape[2:]))
    run("softmax_forward", x.size // x.shape[1], x.shape[1], inner, run.array(x), y)
    return y


def total(run, fixed, ignore, labels, terms, splits=3):
    loss, divisor = run.empty(1), run.empty(1)
    sums = run.empty(splits), run.empty(splits)
    run("loss_sums", splits, terms.size, fixed == 0, *ignore, labels, terms, *sums)
    run("loss_total", 1, splits, fixed, *sums, loss, divisor)
    return loss, divisor


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ignore", NONE_AND_TWO)
@numbers_of("softmax_loss_terms", "loss_sums", "loss_total", "softmax_loss_backward")
def test_softmax_loss(run, ignore, mode):
    given = labels_for(ignore)
    param = f"normalization: {mode} {said(ignore)}"
    want = layer_numbers(f'type: "SoftmaxWithLoss" loss_param {{ {param} }}', X, given)
    labels, flags, prob = run.array(given), flags_for(ignore), prob_of(run)
    terms, gx = run.empty(POSITIONS), run.empty(*SHAPE)
    run("softmax_loss_terms", POSITIONS, CLASSES, INNER, *flags, prob, labels, terms)
    loss, divisor = total(run, MODES[mode], flags, labels, terms)
    run.close(loss[0], want.tops[0])
    numbers = (X.size, CLASSES, INNER, *flags)
    run("softmax_loss_backward", *numbers, prob, labels, weight_of(run, want), divisor, gx)
    run.close(gx, want.bottom_diffs[0])


def test_a_batch_without_a_label_that_counts_has_no_loss_and_no_gradient(run):
    labels, flags, prob = run.array(np.full(POSITIONS, 255)), (1, 255), prob_of(run)
    terms, gx = run.empty(POSITIONS), run.empty(*SHAPE)
    run("softmax_loss_terms", POSITIONS, CLASSES, INNER, *flags, prob, labels, terms)
    loss, divisor = total(run, 0, flags, labels, terms)
    assert loss[0] == 0 and divisor[0] == 1
    numbers = (X.size, CLASSES, INNER, *flags)
    run("softmax_loss_backward", *numbers, prob, labels, run.array([1]), divisor, gx)
    assert (gx == 0).all()


def test_the_largest_loss_is_that_of_the_smallest_float(run):
    terms = run.empty(1)
    run("softmax_loss_terms", 1, 2, 1, 0, 0, run.array([[0, 1]]), run.array([0]), terms)
    assert f"{terms[0]:g}" == "87.3365"


@numbers_of("check_labels", "softmax_loss_terms", "infogain_loss_terms")
def test_labels_that_are_no_class_are_found_and_touch_no_memory(run):
    labels = LABELS.reshape(-1).copy()
    bad = np.zeros(1, np.int32)
    run("check_labels", POSITIONS, CLASSES, 0, 0, run.array(labels), bad)
    assert bad[0] == 0
    labels[[7, 19, 20, 21]] = [CLASSES, -1, np.nan, 1e9]
    run("check_labels", POSITIONS, CLASSES, 0, 0, run.array(labels), bad)
    assert POSITIONS - bad[0] == 7
    bad[0] = 0
    run("check_labels", POSITIONS, CLASSES, 1, CLASSES, run.array(labels), bad)
    assert POSITIONS - bad[0] == 19
    terms = run.empty(POSITIONS)
    run(
        "softmax_loss_terms",
        POSITIONS,
        CLASSES,
        INNER,
        0,
        0,
        prob_of(run),
        run.array(labels),
        terms,
    )
    assert np.flatnonzero(np.isnan(terms)).tolist() == [7, 19, 20, 21]
    gains = run.array(RNG.random((CLASSES, CLASSES)))
    numbers = (POSITIONS, CLASSES, INNER, 0, 0)
    run("infogain_loss_terms", *numbers, gains, prob_of(run), run.array(labels), terms)
    assert np.flatnonzero(np.isnan(terms)).tolist() == [7, 19, 20, 21]


@pytest.mark.parametrize("ignore", NONE_AND_TWO)
@numbers_of("infogain_loss_terms", "infogain_loss_backward", "channel_sums")
def test_infogain_loss(run, ignore):
    given, gains = labels_for(ignore), RNG.random((CLASSES, CLASSES))
    x = X * 20  # some probabilities below the least
    param = f"loss_param {{ {said(ignore)} }}"
    want = layer_numbers(f'type: "InfogainLoss" {param}', x, given, gains[None, None], down=[0])
    labels, flags, prob, h = run.array(given), flags_for(ignore), prob_of(run, x), run.array(gains)
    terms, sums, gx = run.empty(POSITIONS), run.empty(CLASSES), run.empty(*SHAPE)
    run("infogain_loss_terms", POSITIONS, CLASSES, INNER, *flags, h, prob, labels, terms)
    loss, divisor = total(run, 0, flags, labels, terms)
    run.close(loss[0], want.tops[0])
    run.sums("channel_sums", (1, CLASSES, CLASSES), h, out=sums)
    numbers = (X.size, CLASSES, INNER, *flags, h, sums, prob, labels, weight_of(run, want))
    run("infogain_loss_backward", *numbers, divisor, gx)
    run.close(gx, want.bottom_diffs[0])


@numbers_of("multinomial_loss_terms", "multinomial_loss_backward")
def test_multinomial_loss(run):
    given, labels = RNG.random((POSITIONS, CLASSES)), LABELS.reshape(-1)
    given[3, int(labels[3])] = 0
    want = layer_numbers('type: "MultinomialLogisticLoss"', given, labels)
    p, terms, gx = run.array(given), run.empty(POSITIONS), run.empty(*given.shape)
    run("multinomial_loss_terms", POSITIONS, CLASSES, p, run.array(labels), terms)
    run.close(terms.mean(), want.tops[0])
    weight = weight_of(run, want)
    run(
        "multinomial_loss_backward",
        p.size,
        CLASSES,
        1 / POSITIONS,
        p,
        run.array(labels),
        weight,
        gx,
    )
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ignore", [False, True])
@numbers_of("sigmoid_loss_terms", "sigmoid_loss_backward", "loss_total")
def test_sigmoid_loss(run, ignore, mode):
    given = RNG.random(SHAPE)
    given[1, 2] = -1
    param = f"normalization: {mode} {'ignore_label: -1' if ignore else ''}"
    want = layer_numbers(f'type: "SigmoidCrossEntropyLoss" loss_param {{ {param} }}', X * 30, given)
    x, targets, flags = run.array(X * 30), run.array(given), (int(ignore), -1)
    terms, gx = run.empty(X.size), run.empty(*SHAPE)
    run("sigmoid_loss_terms", X.size, *flags, x, targets, terms)
    fixed = {"FULL": X.size, "BATCH_SIZE": OUTER, "NONE": 1, "VALID": 0}[mode]
    loss, divisor = total(run, fixed, flags, targets, terms)
    run.close(loss[0], want.tops[0])
    run("sigmoid_loss_backward", X.size, *flags, x, targets, weight_of(run, want), divisor, gx)
    run.close(gx, want.bottom_diffs[0])


@pytest.mark.parametrize("norm", ["L1", "L2"])
@numbers_of("hinge_loss_margins", "hinge_loss_backward")
def test_hinge_loss(run, norm):
    given, labels = X.reshape(24, 5), RNG.integers(0, 5, 24).astype(float)
    want = layer_numbers(f'type: "HingeLoss" hinge_loss_param {{ norm: {norm} }}', given, labels)
    h = run.empty(24, 5)
    run("hinge_loss_margins", 120, 5, run.array(given), run.array(labels), h)
    run.close((h if norm == "L1" else h * h).sum() / 24, want.tops[0])
    squared = norm == "L2"
    run(
        "hinge_loss_backward",
        120,
        5,
        squared,
        1 / 24,
        run.array(labels),
        weight_of(run, want),
        h,
        h,
    )
    run.close(h, want.bottom_diffs[0])


@pytest.mark.parametrize("legacy", [False, True])
@numbers_of("contrastive_loss_terms", "contrastive_loss_backward")
def test_contrastive_loss(run, legacy):
    a, b = RNG.standard_normal((2, 20, 3))
    b[:3] = a[:3]
    similar = RNG.integers(0, 2, 20).astype(float)
    flag = f"margin: 2.5 legacy_version: {str(legacy).lower()}"
    layer = f'type: "ContrastiveLoss" contrastive_loss_param {{ {flag} }}'
    want = layer_numbers(layer, a, b, similar)
    d, y, squares, terms = run.array(a - b), run.array(similar), run.empty(20), run.empty(20)
    run("contrastive_loss_terms", 20, 3, 2.5, legacy, d, y, squares, terms)
    run.close(terms.sum() / 40, want.tops[0])
    for diff, sign in zip(want.bottom_diffs, (1, -1), strict=False):
        gx = run.empty(20, 3)
        numbers = (60, 3, 2.5, legacy, sign / 20, d, squares, y, weight_of(run, want), gx)
        run("contrastive_loss_backward", *numbers)
        run.close(gx, diff)


@numbers_of("subtract", "channel_dots", "scale_by")
def test_euclidean_loss(run):
    a, b = RNG.standard_normal((2, 8, 5))
    want = layer_numbers('type: "EuclideanLoss"', a, b)
    d, loss, gx = run.empty(8, 5), run.empty(1), run.empty(8, 5)
    run("subtract", 40, run.array(a), run.array(b), d)
    run.sums("channel_dots", (1, 1, 40), d, d, out=loss, scale=1 / 16)
    run.close(loss[0], want.tops[0])
    for diff, sign in zip(want.bottom_diffs, (1, -1), strict=True):
        run("scale_by", 40, sign / 8, weight_of(run, want), d, gx)
        run.close(gx, diff)


@pytest.mark.parametrize("top_k", [1, 3])
@pytest.mark.parametrize("ignore", NONE_AND_TWO)
@numbers_of("accuracy_hits", "accuracy_sums", "accuracy_total")
def test_accuracy(run, ignore, top_k):
    scores, given = np.round(X), labels_for(ignore)
    param = f"top_k: {top_k} {said(ignore)}"
    layer = f'type: "Accuracy" accuracy_param {{ {param} }}'
    want = layer_numbers(layer, scores, given, tops=2, down=())
    flags, labels, hits = flags_for(ignore), run.array(given), np.full(POSITIONS, 9, np.int32)
    share, each = run.empty(1), run.empty(CLASSES)
    run("accuracy_hits", POSITIONS, CLASSES, INNER, top_k, *flags, run.array(scores), labels, hits)
    for rows, found in ((1, share), (CLASSES, each)):
        sums = run.empty(3 * rows), run.empty(3 * rows)
        sizes = 3, POSITIONS, rows > 1
        run("accuracy_sums", 3 * rows, *sizes, *flags, labels, hits, *sums)
        run("accuracy_total", rows, 3, *sums, found)
    run.close(share[0], want.tops[0])
    run.close(each, want.tops[1])
