"""What packages of scripts have in Cython, against the same in plain loops."""

import numpy as np
import pytest

from pycaffe_dist.errors import PcdError
from pycaffe_dist.py2.compiled import COMPILED, bbox_overlaps, cpu_nms, gpu_nms


def boxes(count, seed=0):
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 20, (count, 2))
    sizes = rng.integers(0, 15, (count, 2))
    return np.hstack([corners, corners + sizes]).astype(np.float32)


def overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0]) + 1
    height = min(a[3], b[3]) - max(a[1], b[1]) + 1
    if width <= 0 or height <= 0:
        return 0.0
    area = [(x[2] - x[0] + 1) * (x[3] - x[1] + 1) for x in (a, b)]
    return width * height / (sum(area) - width * height)


def test_overlaps():
    a, b = boxes(7), boxes(5, 1)
    found = bbox_overlaps(a, b)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [[overlap(x, y) for y in b] for x in a], rtol=1e-6)


@pytest.mark.parametrize(("function", "goes"), [(cpu_nms, np.greater_equal), (gpu_nms, np.greater)])
@pytest.mark.parametrize("thresh", [0.0, 0.3, 0.7])
def test_suppression(function, goes, thresh):
    found = boxes(60)
    dets = np.hstack([found, np.random.default_rng(2).random((60, 1))]).astype(np.float32)
    kept = []
    for i in dets[:, 4].argsort()[::-1]:
        if not any(goes(np.float32(overlap(dets[i], dets[k])), np.float32(thresh)) for k in kept):
            kept.append(i)
    assert function(dets, thresh) == kept
    assert function(dets[:0], thresh) == []


def test_a_box_at_the_threshold_goes_or_stays():
    dets = np.array([[0, 0, 9, 9, 0.9], [0, 0, 9, 4, 0.8]], np.float32)  # they overlap by a half
    assert (cpu_nms(dets, 0.5), gpu_nms(dets, 0.5, 0)) == ([0], [0, 1])


def test_masks_say_where_they_are():
    iou = COMPILED["pycocotools._mask"]["__getattr__"]("iou")
    with pytest.raises(PcdError, match="pip install pycocotools"):
        iou([], [], [])
