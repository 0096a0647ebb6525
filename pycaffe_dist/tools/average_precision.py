"""How good detections are: VOC's and COCO's average precision, class by class.

Detections are sorted by score.  Of the first n, tp(n) are right; with P boxes to be found,

    precision(n) = tp(n) / n        recall(n) = tp(n) / P

11point      the mean over r = 0, 0.1, ..., 1 of max { precision(n) : recall(n) >= r }   (VOC 2007)
MaxIntegral  the area below p(r) = max { precision(n) : recall(n) >= r }                 (VOC 2010)
Integral     the sum of precision(n) · (recall(n) − recall(n − 1))                       (SSD)

They share VOC's judgement of what is right (:func:`pycaffe_dist.boxes.verdicts`), with boxes that
include their last pixel.  COCO judges otherwise (:func:`coco_matches`), by ten overlaps from 0.5 to
0.95; p(r) is read at 101 recalls, r = 0, 0.01, ..., 1, and the mean over these is

COCO         over all ten overlaps; COCO50 and COCO75 are those of 0.5 and 0.75 alone.

A class that nothing is to be found of has no value, and no part in the mean over classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.boxes import areas, intersections, iou, verdicts
from pycaffe_dist.solvers.detection import VERSIONS, average_precision

COCO_OVERLAPS = np.arange(50, 100, 5) / 100
COCO_RECALLS = np.arange(101) / 100
COCO_MOST = 100  # detections of a class in an image that count
MEASURES = ("11point", "MaxIntegral", "Integral", "COCO", "COCO50", "COCO75")

# By image: of the truth label, corners in pixels, difficult (n, 6); label, score, corners (n, 6).
Truth = Mapping[str, Array]
Detected = Mapping[str, Array]
NONE = np.zeros((0, 6))


@dataclass
class ClassScore:
    """The measures of a class, by their names."""

    boxes: int  # to be found
    found: int  # detections
    measures: dict[str, float]


def evaluate(truth: Truth, found: Detected, overlap: float = 0.5) -> dict[int, ClassScore]:
    """The measures of each class that occurs, by its label.

    Args:
        truth: the images and what is in them; detections elsewhere do not count.
        found: detections.
        overlap: from which on VOC takes a detection for right.
    """
    tables = [NONE, *truth.values(), *(found.get(image, NONE) for image in truth)]
    labels = np.unique(np.concatenate([table[:, 0] for table in tables]))
    return {int(label): _of_class(label, truth, found, overlap) for label in labels}


def mean(scores: Mapping[int, ClassScore], measure: str) -> float:
    """Over the classes that there is something to be found of; 0 if there are none."""
    values = [score.measures[measure] for score in scores.values() if score.boxes]
    return float(np.mean(values)) if values else 0.0


def _of_class(label: float, truth: Truth, found: Detected, overlap: float) -> ClassScore:
    scores, right, counts, matched, ignored, ranks = [], [], [], [], [], []
    boxes = 0
    for image, objects in truth.items():
        own = objects[objects[:, 0] == label]
        there = found.get(image, NONE)
        there = there[there[:, 0] == label]
        there = there[np.argsort(-there[:, 1], kind="stable")]
        easy = own[:, 5] == 0
        hit, miss = verdicts(there[:, 2:], own[:, 1:5], easy, overlap, pixel=1)
        scores.append(there[:, 1])
        right.append(hit)
        counts.append(hit | miss)
        few = there[:COCO_MOST]
        match, ignore = coco_matches(few[:, 2:], own[:, 1:5], ~easy)
        ranks.append(few[:, 1])
        matched.append(match)
        ignored.append(ignore)
        boxes += int(easy.sum())
    whole, hits, count = (np.concatenate(part) for part in (scores, right, counts))
    measures = {
        version: average_precision(whole[count], hits[count], boxes, version)
        for version in VERSIONS
    }
    each = _coco(np.concatenate(ranks), np.hstack(matched), np.hstack(ignored), boxes)
    measures |= {"COCO": float(each.mean()), "COCO50": float(each[0]), "COCO75": float(each[5])}
    return ClassScore(boxes, len(whole), measures)


# -- COCO ------------------------------------------------------------------------------------------


def coco_matches(found: Array, truth: Array, crowd: Array) -> tuple[Array, Array]:
    """COCO's judgement of boxes (n, 4), the best first, against those of the truth (m, 4), all of
    one image and class: (10, n) which are matched, and which do not count, for each overlap.

    One after the other, each takes of the boxes of the truth that are still free the one that it
    overlaps most, if that is enough.  If there is none, it may be in a ``crowd``, which is never
    taken and makes that the detection does not count; the overlap is then the part of the detection
    that is in it.  What VOC calls difficult is such a crowd, as SSD's records do not tell them
    apart.
    """
    limits = np.minimum(COCO_OVERLAPS, 1 - 1e-10)[:, None]
    matched: Array = np.zeros((len(limits), len(found)), bool)
    ignored: Array = np.zeros_like(matched)
    if not len(truth):
        return matched, ignored
    within = intersections(found, truth) / np.maximum(areas(found), 1e-300)[:, None]
    overlap = np.where(crowd, within, iou(found, truth))
    taken: Array = np.zeros((len(limits), len(truth)), bool)
    every = np.arange(len(limits))
    for i, row in enumerate(overlap):
        free = (row >= limits) & ~taken & ~crowd
        last = len(row) - 1 - np.where(free, row, -1)[:, ::-1].argmax(1)  # of equal ones the last
        matched[:, i] = free.any(1)
        taken[every[matched[:, i]], last[matched[:, i]]] = True
        ignored[:, i] = ~matched[:, i] & ((row >= limits) & crowd).any(1)
    return matched, ignored


def _coco(scores: Array, matched: Array, ignored: Array, boxes: int) -> Array:
    """(10,): the average precision for each overlap."""
    out: Array = np.zeros(len(COCO_OVERLAPS))
    order = np.argsort(-scores, kind="stable")
    for i in range(len(out)):
        counted = order[~ignored[i, order]]
        if not boxes or not len(counted):
            continue
        hits = np.cumsum(matched[i, counted])
        precision = hits / np.arange(1, len(hits) + 1)
        best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0)
        out[i] = best[np.searchsorted(hits / boxes, COCO_RECALLS)].mean()
    return out
