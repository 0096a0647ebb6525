import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun

LAYER = 'type: "Accuracy" accuracy_param { %s }'
RNG = np.random.default_rng(1701)


def run(settings, scores, labels, tops=1):
    case = LayerCase(LAYER % settings, [scores, labels], tops=tops, phase="TEST")
    return LayerRun(case, np.float32).forward()


def by_hand(scores, labels, top_k=1, ignore=None):
    """Accuracy, and accuracy of each class, of scores (N, C, I) and labels (N, I)."""
    hits, all_labels = np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    for n, i in np.ndindex(*labels.shape):
        label = int(labels[n, i])
        if label == ignore:
            continue
        others = [s for c, s in enumerate(scores[n, :, i]) if c != label]
        hits[label] += sum(s >= scores[n, label, i] for s in others) < top_k
        all_labels[label] += 1
    each = [h / a if a else 0 for h, a in zip(hits, all_labels, strict=True)]
    return hits.sum() / max(1, all_labels.sum()), each


@pytest.mark.parametrize("top_k", [1, 3, 10])
@pytest.mark.parametrize("ignore", [None, -1])
@pytest.mark.parametrize("ties", [False, True])
def test_against_a_loop(top_k, ignore, ties):
    scores = RNG.integers(0, 3, (100, 10)) if ties else RNG.uniform(-1, 1, (100, 10))
    labels = RNG.integers(0, 9, 100)  # no label is 9
    if ignore is not None:
        labels[[2, 5, 32]] = ignore
    settings = f"top_k: {top_k} " + (f"ignore_label: {ignore}" if ignore is not None else "")
    whole, each = run(settings, scores, labels, tops=2)
    want, want_each = by_hand(scores[..., None], labels[:, None], top_k, ignore)
    np.testing.assert_allclose(whole, want, rtol=1e-6)
    np.testing.assert_allclose(each, want_each, rtol=1e-6)
    assert each.shape == (10,)
    assert each[9] == 0
    assert whole.shape == ()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_positions(axis):
    scores = RNG.uniform(-1, 1, (3, 4, 5))
    labels = RNG.integers(0, 3, np.delete(scores.shape, axis))
    got = run(f"axis: {axis} ignore_label: 2", scores, labels)[0]
    rows = np.moveaxis(scores, axis, -1).reshape(-1, scores.shape[axis], 1)
    np.testing.assert_allclose(got, by_hand(rows, labels.reshape(-1, 1), 1, 2)[0], rtol=1e-6)


def test_ties_lose():
    scores = np.array([[1.0, 1, 0], [0, 1, 1], [2, 1, 1]])
    assert run("", scores, np.array([0, 2, 0]))[0] == np.float32(1 / 3)
    assert run("top_k: 2", scores, np.array([0, 2, 1]))[0] == np.float32(2 / 3)


def test_nothing_to_count():
    whole, each = run("ignore_label: 1", np.ones((3, 2)), np.ones(3), tops=2)
    assert whole == 0
    np.testing.assert_array_equal(each, [0, 0])


def test_it_is_no_loss():
    case = LayerRun(LayerCase(LAYER % "", [(3, 2), np.zeros(3)]))
    assert case.layer.run_forward(case.bottom, case.top) == 0
    assert case.layer.loss == [0.0]
    case.backward([np.ones(())], [False, False])
    with pytest.raises(NetError, match="has no gradient"):
        case.backward([np.ones(())], [True, False])


@pytest.mark.parametrize(
    ("settings", "labels", "message"),
    [
        ("top_k: 5", np.zeros(3), "top_k is 5, but there are 4 classes"),
        ("", np.zeros((3, 2)), r"shape \(3, 4\) .* axis 1 take 3 labels, found 6 in \(3, 2\)"),
        ("axis: 2", np.zeros(3), "axis 2 is out of range"),
        ("", np.array([0, 1, 4]), r"label 4 at \(2,\) is none of the 4 classes \(0 to 3\)$"),
        ("ignore_label: 9", np.array([9, -1, 0]), r"label -1 at \(1,\).*nor ignore_label 9"),
    ],
)
def test_refused(settings, labels, message):
    with pytest.raises(NetError, match=message):
        run(settings, np.zeros((3, 4)), labels)


def test_the_smallest_may_be_the_best():
    layer = 'type: "Accuracy" accuracy_param { min_is_better: true }'
    distances, labels = np.array([[1.0, 2.0, 3.0], [4.0, 3.0, 5.0]]), np.array([0.0, 2.0])
    run = LayerRun(LayerCase(layer, [distances, labels], bottoms=[]))
    assert run.forward()[0] == 0.5
