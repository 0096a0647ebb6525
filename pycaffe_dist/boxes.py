"""Boxes as rows (xmin, ymin, xmax, ymax): overlap, suppression, coding relative to priors.

All of it works on whole arrays.  ``pixel`` is 1 where a box includes its last pixel, so that its
width is xmax − xmin + 1 (R-CNN), and 0 where corners are coordinates (SSD).
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array, DType, Number
from pycaffe_dist.proto.caffe_pb2 import PriorBoxParameter

CORNER = PriorBoxParameter.CORNER
CENTER_SIZE = PriorBoxParameter.CENTER_SIZE
CORNER_SIZE = PriorBoxParameter.CORNER_SIZE
BLOCK = 128  # boxes whose overlaps are looked at together
BEFORE = np.tri(BLOCK, k=-1, dtype=bool)  # of each, those that are better


def areas(boxes: Array, pixel: int = 0) -> Array:
    """The area of each box, 0 for one whose corners are swapped."""
    size = boxes[..., 2:] - boxes[..., :2]
    area: Array = (size + pixel).prod(-1) * (size >= 0).all(-1)
    return area


def intersections(a: Array, b: Array, pixel: int = 0) -> Array:
    """(n, m): the area that each of n boxes has in common with each of m."""
    (ax, ay, ax2, ay2), (bx, by, bx2, by2) = a.T[..., None], b.T
    width, height = np.minimum(ax2, bx2), np.minimum(ay2, by2)
    for side, first, second in ((width, ax, bx), (height, ay, by)):
        side -= np.maximum(first, second)
        if pixel:
            side += pixel
        np.maximum(side, 0, out=side)
    width *= height
    return width


def iou(a: Array, b: Array, pixel: int = 0) -> Array:
    """(n, m): intersection over union (Jaccard overlap), 0 where boxes have nothing in common."""
    return _overlaps(intersections(a, b, pixel), areas(a, pixel), areas(b, pixel))


def _overlaps(common: Array, of_a: Array, of_b: Array) -> Array:
    """From what boxes have in common, and their areas."""
    union = of_a[:, None] + of_b
    union -= common
    if (of_a > 0).all():  # so is every union
        return np.divide(common, union, out=common)
    overlap: Array = np.divide(common, union, out=np.zeros_like(common), where=common > 0)
    return overlap


def verdicts(
    found: Array, truth: Array, counted: Array, threshold: Number, pixel: int = 0
) -> tuple[Array, Array]:
    """VOC's judgement of boxes (n, 4), the best first, against those of the truth (m, 4), all of
    one image and class: which are right, and which are wrong.

    Each looks at the box of the truth that it overlaps most.  Below ``threshold`` it is wrong; if
    that box is not ``counted`` (difficult), it is neither; the first at a box is right, those
    after it are wrong.
    """
    if not len(truth):
        return np.zeros(len(found), bool), np.ones(len(found), bool)
    overlap = iou(found, truth, pixel)
    best = overlap.argmax(1)
    hits = overlap.max(1) >= threshold
    ignored = hits & ~counted[best]
    right = np.zeros(len(found), bool)
    at = np.flatnonzero(hits & ~ignored)
    right[at[np.unique(best[at], return_index=True)[1]]] = True  # the first of each box
    return right, ~right & ~ignored


def nms(
    boxes: Array,
    threshold: float,
    eta: float = 1.0,
    pixel: int = 0,
    inclusive: bool = False,
    most: int | None = None,
) -> Array:
    """Non-maximum suppression of boxes that are sorted by score: the indices of those kept.

    A box is kept if its overlap with every better one that is kept is at most the threshold
    (below it if ``inclusive``).  With ``eta`` below 1 the threshold t becomes t·eta after each box
    that is kept while t > 0.5 (SSD's adaptive suppression).

    Of each block, first those go that boxes kept so far suppress.  What then remains depends on the
    block alone: the rule "kept, if none of the kept ones before suppresses it" is applied to all at
    once until nothing changes.  That ends, as the first box is right after one round, the second
    after two; in practice after a few.

    Args:
        boxes: (n, 4), the best first.
        threshold: the largest overlap that is allowed.
        eta: what the threshold is multiplied by.
        pixel: 1 if boxes include their last pixel.
        inclusive: whether an overlap equal to the threshold suppresses.
        most: how many to keep at most.
    """
    above = np.greater_equal if inclusive else np.greater
    if eta < 1:
        return _adaptive_nms(boxes, _limits(threshold, eta, len(boxes), boxes.dtype), pixel, above)[
            :most
        ]
    limit, area = boxes.dtype.type(threshold), areas(boxes, pixel)

    def hits(a: Array, b: Array) -> Array:
        common = intersections(boxes[a], boxes[b], pixel)
        found: Array = above(_overlaps(common, area[a], area[b]), limit)
        return found

    kept = np.empty(0, np.intp)
    for begin in range(0, len(boxes), BLOCK):
        left = np.arange(begin, min(begin + BLOCK, len(boxes)))
        if len(kept):
            left = left[~hits(left, kept).any(1)]
        earlier = hits(left, left)
        earlier &= BEFORE[: len(left), : len(left)]
        keep: Array = np.ones(len(left), bool)
        while True:
            new: Array = np.logical_not((earlier & keep).any(1))
            if (new == keep).all():
                break
            keep = new
        kept = np.concatenate([kept, left[keep]])
        if most is not None and len(kept) >= most:
            return kept[:most]
    return kept


def _adaptive_nms(boxes: Array, limits: Array, pixel: int, above: np.ufunc) -> Array:
    """With a limit for each number of boxes that are kept before."""
    kept = np.empty(0, np.intp)
    for begin in range(0, len(boxes), BLOCK):
        block = boxes[begin : begin + BLOCK]
        earlier = iou(block, boxes[kept], pixel)
        within, before = iou(block, block, pixel), BEFORE[: len(block), : len(block)]
        keep: Array = np.ones(len(block), bool)
        while True:
            count = np.cumsum(keep) - keep + len(kept)  # kept before each
            limit = limits[np.minimum(count, len(limits) - 1)][:, None]
            gone, hit = above(earlier, limit).any(1), above(within, limit) & before
            new: Array = np.logical_not(gone | (hit & keep).any(1))
            if (new == keep).all():
                break
            keep = new
        kept = np.concatenate([kept, begin + np.flatnonzero(keep)])
    return kept


def _limits(threshold: float, eta: float, count: int, dtype: DType) -> Array:
    """The threshold after 0, 1, 2, ... kept boxes, up to where it stays."""
    limits = [np.dtype(dtype).type(threshold)]
    while eta < 1 and limits[-1] > 0.5 and len(limits) <= count:
        limits.append(limits[-1] * np.dtype(dtype).type(eta))
    return np.array(limits, dtype)


def decode(
    code: int, priors: Array, variances: Array | None, offsets: Array, pixel: int = 0
) -> Array:
    """Boxes from what a net predicts relative to priors; all (..., 4).

    CORNER       box = prior + v·o
    CENTER_SIZE  centre = prior's centre + v·o·size,  size = exp(v·o)·prior's size
    CORNER_SIZE  box = prior + v·o·(w, h, w, h)

    With ``pixel`` priors include their last pixel, and the boxes that are made do not.
    """
    o: Array = offsets if variances is None else variances * offsets
    size = priors[..., 2:] - priors[..., :2] + pixel
    if code != CENTER_SIZE:
        boxes: Array = priors + (o if code == CORNER else o * np.concatenate([size, size], -1))
        return boxes
    centre = o[..., :2] * size + (priors[..., :2] + priors[..., 2:] + pixel) / 2
    half = np.exp(o[..., 2:]) * size / 2
    return np.concatenate([centre - half, centre + half], -1)


def encode(code: int, priors: Array, variances: Array | None, boxes: Array) -> Array:
    """What a net should predict relative to priors for ``boxes``: the inverse of decode."""
    size = priors[..., 2:] - priors[..., :2]
    o: Array
    if code == CORNER:
        o = boxes - priors
    elif code == CORNER_SIZE:
        o = (boxes - priors) / np.concatenate([size, size], -1)
    else:
        centre = (boxes[..., :2] + boxes[..., 2:]) / 2 - (priors[..., :2] + priors[..., 2:]) / 2
        o = np.concatenate([centre / size, np.log((boxes[..., 2:] - boxes[..., :2]) / size)], -1)
    return o if variances is None else o / variances
