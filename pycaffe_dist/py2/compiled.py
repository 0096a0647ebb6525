"""What Faster R-CNN and its kin have in Cython, by NumPy: their packages run without a compiler.

They import these modules by name from packages of their own, where nobody has built them; a module
that was built for this Python goes first.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist import boxes
from pycaffe_dist.errors import PcdError
from pycaffe_dist.py2.values import Names, Value

INCLUSIVE = 1  # pixels: a box has its last one


def bbox_overlaps(boxes_: Value, query_boxes: Value) -> Value:
    """(n, k): intersection over union."""
    found, query = (np.asarray(rows, np.float64)[:, :4] for rows in (boxes_, query_boxes))
    return boxes.iou(found, query, INCLUSIVE)


def cpu_nms(dets: Value, thresh: float) -> list[int]:
    """The rows (x1, y1, x2, y2, score) that are kept, the best first; at ``thresh`` one goes."""
    return _kept(dets, thresh, True)


def gpu_nms(dets: Value, thresh: float, device_id: int = 0) -> list[int]:
    """As ``cpu_nms``; at ``thresh`` a box stays."""
    return _kept(dets, thresh, False)


def _kept(dets: Value, thresh: float, inclusive: bool) -> list[int]:
    dets = np.asarray(dets)
    order = dets[:, 4].argsort()[::-1]
    kept = boxes.nms(dets[order, :4], thresh, pixel=INCLUSIVE, inclusive=inclusive)
    return [int(i) for i in order[kept]]


def _masks(name: str) -> Value:
    """COCO's masks: most scripts import them, and few call them."""

    def call(*args: Value, **kwargs: Value) -> Value:
        raise PcdError(f"{name} of COCO's masks is compiled: pip install pycocotools, and use that")

    return call


# By the names under which they are imported.
COMPILED: dict[str, Names] = {
    "nms.cpu_nms": {"cpu_nms": cpu_nms},
    "nms.gpu_nms": {"gpu_nms": gpu_nms},
    "pycocotools._mask": {"__getattr__": _masks},
    "utils.cython_bbox": {"bbox_overlaps": bbox_overlaps},
    "utils.cython_nms": {"nms": cpu_nms},
}
