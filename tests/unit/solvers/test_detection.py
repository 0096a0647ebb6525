import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.solvers.detection import Detections, average_precision

# Sorted: right, wrong, right, wrong of 4 boxes: precisions 1, 1/2, 2/3, 1/2, recalls 1/4 ... 1/2.
SCORES, RIGHT = np.array([0.2, 0.9, 0.5, 0.7]), np.array([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("version", "want"),
    [
        ("Integral", (1 + 2 / 3) / 4),
        ("MaxIntegral", (1 + 2 / 3) / 4),
        ("11point", (3 * 1 + 3 * 2 / 3) / 11),
    ],
)
def test_average_precision(version, want):
    assert average_precision(SCORES, RIGHT, 4, version) == pytest.approx(want)


def test_a_wrong_detection_first():
    scores, right = np.array([0.9, 0.5]), np.array([0, 1])
    assert average_precision(scores, right, 1, "Integral") == 0.5
    assert average_precision(scores, np.array([1, 0]), 1, "MaxIntegral") == 1


@pytest.mark.parametrize("positives", [0, 3])
def test_nothing_found_or_nothing_to_find(positives):
    found = SCORES if positives == 0 else np.array([])
    assert average_precision(found, RIGHT[: len(found)], positives, "Integral") == 0


def test_classes_of_several_batches():
    heads = [[-1, 1, 1, -1, -1], [-1, 2, 1, -1, -1]]
    first = np.array([*heads, [0, 1, 0.8, 1, 0], [0, 1, 0.9, 0, 0]])  # the last one is ignored
    second = np.array([*heads, [0, 1, 0.6, 1, 0], [0, 2, 0.5, 0, 1]])
    found = Detections("Integral")
    found.add(first[None, None])
    found.add(second[None, None])
    assert found.by_class() == {1: 1.0, 2: 0.0}


def test_what_is_refused():
    with pytest.raises(NetError, match=r"found \(1, 3\)"):
        Detections("Integral").add(np.zeros((1, 3)))
    with pytest.raises(NetError, match=r'ap_version is one of .*, not "x"'):
        average_precision(SCORES, RIGHT, 4, "x")
