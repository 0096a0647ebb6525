"""Which prior is to predict which box of the truth, and which are to learn that there is none.

Matches are arrays (P,) of numbers of boxes: −1 where there is none, −2 for priors left out.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.aliases import Array
from pycaffe_dist.proto.caffe_pb2 import MultiBoxLossParameter as P

NONE, LEFT_OUT = -1, -2
SMALLEST_OVERLAP = 1e-6
SMALLEST_BOX = 1e-5


def match(p: P, truth: Array, priors: Array) -> tuple[Array, Array]:
    """Matches of priors, and the overlap by which each is matched, or else its largest.

    First each box of the truth takes a prior: of all pairs the one that overlaps most, then of
    those that are left, and so on.  With PER_PREDICTION every other prior takes the box that it
    overlaps most, if by ``overlap_threshold``.  ``ignore_cross_boundary_bbox`` leaves out priors
    that reach over the image's edge.
    """
    found = np.full(len(priors), NONE)
    best = np.zeros(len(priors), priors.dtype)
    if p.ignore_cross_boundary_bbox:
        found[((priors < 0) | (priors > 1)).any(1)] = LEFT_OUT
    if not len(truth):
        return found, best
    overlap = boxes.iou(priors, truth)
    overlap[(overlap <= SMALLEST_OVERLAP) | (found == LEFT_OUT)[:, None]] = 0
    best = overlap.max(1)
    _pair_off(overlap, found, best)
    if p.match_type == P.PER_PREDICTION:
        own = overlap.argmax(1)
        threshold = np.float32(p.overlap_threshold)
        more = (found == NONE) & (overlap.max(1) >= threshold) & (overlap.max(1) > 0)
        found[more] = own[more]
    return found, best


def _pair_off(overlap: Array, found: Array, best: Array) -> None:
    """Greedy pairs of priors and boxes, the largest overlap first.

    Pairs that are each other's best among all that are left would be taken sooner or later, so
    they are all taken at once.  Of equal overlaps the lowest prior comes first, then the first box.
    """
    left = overlap.copy()
    while True:
        prior = left.argmax(0)  # of each box
        box = left[prior].argmax(1)  # of that prior
        here = np.arange(left.shape[1])
        mutual = (box == here) & (left[prior, here] > 0)
        if not mutual.any():
            return
        found[prior[mutual]] = here[mutual]
        best[prior[mutual]] = left[prior[mutual], here[mutual]]
        left[prior[mutual]] = 0
        left[:, here[mutual]] = 0


def mine(p: P, found: Array, best: Array, loss: Array, placed: Array) -> Array:
    """The priors (numbers) that are to learn the background; changes matches if examples are mined.

    MAX_NEGATIVE: of those with no match and a largest overlap below ``neg_overlap`` the ones with
    the largest loss, ``neg_pos_ratio`` for each match.  HARD_EXAMPLE: the ``sample_size`` with the
    largest loss of all; matches that are not among them are taken back.  ``nms_param`` looks at the
    first ``top_k`` only, and 0 is its default here.

    Args:
        p: MultiBoxLossParameter.
        found: matches (P,), changed in place.
        best: the overlap of each prior.
        loss: the loss of each prior.
        placed: the boxes by which ``nms_param`` suppresses examples: priors or predictions.
    """
    hard = p.mining_type == P.HARD_EXAMPLE
    eligible = np.ones(len(found), bool)
    if not hard:
        eligible = (found == NONE) & (best < np.float32(p.neg_overlap))
    numbers = np.flatnonzero(eligible)
    most = p.sample_size if hard else int(np.float32((found > NONE).sum()) * p.neg_pos_ratio)
    order = numbers[np.argsort(-loss[numbers], kind="stable")]
    if p.HasField("nms_param") and p.nms_param.nms_threshold > 0:
        if p.nms_param.top_k > -1:
            order = order[: p.nms_param.top_k]
        order = order[boxes.areas(placed[order]) >= SMALLEST_BOX]
        order = order[boxes.nms(placed[order], p.nms_param.nms_threshold)]
    chosen = np.zeros(len(found), bool)
    chosen[order[:most]] = True
    negatives = np.flatnonzero(chosen & (found == NONE))
    if hard:
        found[(found > NONE) & ~chosen] = NONE
    return negatives
