"""The overlap of a box with another, and how it changes with the box."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.memory import Array


def slope(box: Array, truth: Array, enclosed: bool) -> tuple[float, Array]:
    """Of boxes (centre x, y, width, height): their overlap, and its derivative by the first.

    The overlap is I/U, intersection over union.  If ``enclosed``, it is less (C − U)/C, with C the
    smallest box around both (GIoU).  I of boxes apart is taken for negative along one side, as if
    they could be drawn together.
    """
    low, high = box[:2] - box[2:] / 2, box[:2] + box[2:] / 2
    true_low, true_high = truth[:2] - truth[2:] / 2, truth[:2] + truth[2:] / 2
    inner = np.minimum(high, true_high) - np.maximum(low, true_low)
    outer = np.maximum(high, true_high) - np.minimum(low, true_low)
    common, around = float(inner.prod()), float(outer.prod())
    union = float(box[2:].prod() + truth[2:].prod()) - common
    # Derivatives by the low and the high corner, (2, 2); a side's is the length of the other.
    area = np.stack([-box[:1:-1], box[:1:-1]])
    shared = np.stack([-inner[::-1] * (low > true_low), inner[::-1] * (high < true_high)])
    spread = np.stack([-outer[::-1] * (low < true_low), outer[::-1] * (high > true_high)])
    joint = area - shared
    by_corner = (union * shared - common * joint) / union**2
    overlap = common / union if (inner > 0).all() else 0.0
    if enclosed:
        by_corner = by_corner + (around * joint - union * spread) / around**2
        overlap -= (around - union) / around
    return overlap, np.concatenate([by_corner.sum(0), (by_corner[1] - by_corner[0]) / 2])
