"""The average precision of a detector over a test: SSD's ``eval_type: "detection"``.

A test net's output is a table of DetectionEvaluate: rows −1, class, boxes in truth, −1, −1, and
image, class, score, right, wrong.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import NetError


def integral(precision: Array, recall: Array) -> float:
    """Σ precision · Δrecall."""
    return float((precision * np.diff(recall, prepend=0)).sum())


def max_integral(precision: Array, recall: Array) -> float:
    """The same with the largest precision at this or a larger recall (VOC 2012)."""
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return integral(best, recall)


def eleven_point(precision: Array, recall: Array) -> float:
    """The mean over recalls 0, 0.1, ..., 1 of the largest precision at or above (VOC 2007)."""
    points = np.arange(11)[:, None] / 10
    return float(np.where(recall >= points, precision, 0).max(1, initial=0).mean())


VERSIONS: dict[str, Callable[[Array, Array], float]] = {
    "Integral": integral,
    "MaxIntegral": max_integral,
    "11point": eleven_point,
}


def average_precision(scores: Array, right: Array, positives: int, version: str) -> float:
    """Of detections with their scores, of which some are right, for so many boxes in truth."""
    if version not in VERSIONS:
        raise NetError(f'ap_version is one of {", ".join(VERSIONS)}, not "{version}"')
    if not len(scores) or not positives:
        return 0.0
    hits = np.cumsum(right[np.argsort(-scores, kind="stable")])
    return VERSIONS[version](hits / np.arange(1, len(hits) + 1), hits / positives)


class Detections:
    """The tables of a test's batches, and what they come to."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.tables: list[Array] = []

    def add(self, table: Array) -> None:
        if table.ndim != 4 or table.shape[3] != 5:
            raise NetError(
                'eval_type "detection" needs a test net whose output is that of a '
                f"DetectionEvaluate layer, (1, 1, n, 5); found {table.shape}"
            )
        self.tables.append(np.array(table[0, 0]))

    def by_class(self) -> dict[int, float]:
        """The average precision of each class; detections that are neither right nor wrong go."""
        rows = np.concatenate(self.tables)
        heads, found = rows[rows[:, 0] == -1], rows[rows[:, 0] != -1]
        found = found[(found[:, 3:] != 0).any(1)]
        results = {}
        for label in np.unique(heads[:, 1]):
            own = found[found[:, 1] == label]
            positives = int(heads[heads[:, 1] == label, 2].sum())
            results[int(label)] = average_precision(own[:, 2], own[:, 3], positives, self.version)
        return results
