"""Geometry of boxes against its definition, box by box."""

from __future__ import annotations

import numpy as np
import pytest

from pycaffe_dist import boxes


def some(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    corner, size = rng.random((n, 2)), rng.random((n, 2)) * 0.4
    return np.concatenate([corner, corner + size], 1).astype(np.float32)


def overlap(a, b, pixel: int = 0) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0]) + pixel
    height = min(a[3], b[3]) - max(a[1], b[1]) + pixel
    if width <= 0 or height <= 0:
        return 0.0
    size = [(c[2] - c[0] + pixel) * (c[3] - c[1] + pixel) for c in (a, b)]
    return width * height / (size[0] + size[1] - width * height)


@pytest.mark.parametrize("pixel", [0, 1])
def test_iou(pixel: int) -> None:
    a, b = some(7) * 20, some(5, 1) * 20
    want = [[overlap(x, y, pixel) for y in b] for x in a]
    np.testing.assert_allclose(boxes.iou(a, b, pixel), want, rtol=1e-5)


def test_a_box_with_swapped_corners_has_no_area() -> None:
    swapped = np.array([[0.5, 0.5, 0.2, 0.9]])
    assert boxes.areas(swapped) == 0
    assert boxes.iou(swapped, np.array([[0.0, 0.0, 1.0, 1.0]])) == 0


def greedy(given: np.ndarray, threshold: float, eta: float, inclusive: bool) -> list[int]:
    kept: list[int] = []
    for i, box in enumerate(given):
        found = boxes.iou(given[kept], box[None])[:, 0]
        if not any(f >= threshold if inclusive else f > threshold for f in found):
            kept.append(i)
            if eta < 1 and threshold > 0.5:
                threshold = np.float32(threshold) * np.float32(eta)
    return kept


@pytest.mark.parametrize("count", [0, 1, 30, 300])  # more than a block
@pytest.mark.parametrize(("threshold", "eta"), [(0.3, 1), (0.6, 1), (0.9, 0.9), (0.4, 0.5)])
def test_nms_is_greedy(count: int, threshold: float, eta: float) -> None:
    given = some(count)
    want = greedy(given, np.float32(threshold), eta, False)
    assert boxes.nms(given, threshold, eta).tolist() == want
    assert boxes.nms(given, threshold, eta, most=3).tolist() == want[:3]


def test_nms_of_a_chain_of_boxes() -> None:
    """Each suppresses the next: every second one is kept, which takes as many rounds as boxes."""
    left = np.arange(40, dtype=np.float32)
    chain = np.stack([left, 0 * left, left + 2, 0 * left + 1], 1)
    assert boxes.nms(chain, 0.3).tolist() == list(range(0, 40, 2))


def test_an_overlap_equal_to_the_threshold() -> None:
    pair = np.array([[0, 0, 2, 1], [0, 0, 1, 1]], np.float32)
    assert boxes.nms(pair, 0.5).tolist() == [0, 1]
    assert boxes.nms(pair, 0.5, inclusive=True).tolist() == [0]


@pytest.mark.parametrize("code", [boxes.CORNER, boxes.CENTER_SIZE, boxes.CORNER_SIZE])
@pytest.mark.parametrize("variances", [None, np.array([0.1, 0.1, 0.2, 0.3])])
def test_decode_undoes_encode(code: int, variances: np.ndarray | None) -> None:
    priors, given = some(6).astype(float), some(6, 2).astype(float)
    there = boxes.encode(code, priors, variances, given)
    np.testing.assert_allclose(boxes.decode(code, priors, variances, there), given)


def test_decode_by_hand() -> None:
    prior, offset = np.array([0.2, 0.2, 0.4, 0.6]), np.array([1.0, 0.5, 0.0, np.log(2)])
    got = boxes.decode(boxes.CENTER_SIZE, prior, np.array([0.1, 0.1, 1, 1]), offset)
    np.testing.assert_allclose(got, [0.22, 0.02, 0.42, 0.82])
    got = boxes.decode(boxes.CORNER_SIZE, prior, None, np.array([1, 0, 0, 1]))
    np.testing.assert_allclose(got, [0.4, 0.2, 0.4, 1.0])


def test_nms_at_a_threshold_of_zero_keeps_the_best() -> None:
    apart = np.array([[0, 0, 1, 1], [5, 5, 6, 6], [0, 0, 1, 1]], np.float32)
    assert boxes.nms(apart, 0.0, inclusive=True).tolist() == [0]
    assert boxes.nms(apart, 0.0).tolist() == [0, 1]
    assert boxes.nms(apart, 0.0, eta=0.9, inclusive=True).tolist() == [0]
