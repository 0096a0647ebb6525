"""Average precision by hand, and against loops that follow the definitions word by word."""

import numpy as np
import pytest

from pycaffe_dist.tools.average_precision import (
    COCO_OVERLAPS,
    MEASURES,
    coco_matches,
    evaluate,
    mean,
)


def boxes(*rows):
    return np.array(rows, float).reshape(-1, 6)


def measures(truth, found, label=1, **settings):
    return evaluate(truth, found, **settings)[label].measures


# -- by hand ---------------------------------------------------------------------------------------


def test_four_detections_of_three_boxes():
    """Sorted: right, wrong, right, wrong; precisions 1, 1/2, 2/3, 1/2, recalls 1/3, 1/3, 2/3, 2/3.

    Recalls up to 0.3 (four points) have the precision 1, 0.4 to 0.6 (three) 2/3, the rest 0.
    """
    truth = {"a": boxes([1, 0, 0, 9, 9, 0], [1, 20, 0, 29, 9, 0]), "b": boxes([1, 0, 0, 9, 9, 0])}
    found = {
        "a": boxes([1, 0.9, 0, 0, 9, 9], [1, 0.8, 50, 50, 60, 60], [1, 0.2, 51, 51, 60, 60]),
        "b": boxes([1, 0.5, 0, 0, 9, 9]),
    }
    got = measures(truth, found)
    assert got["11point"] == pytest.approx((4 + 3 * 2 / 3) / 11)
    assert got["MaxIntegral"] == pytest.approx(1 / 3 + 2 / 3 / 3)
    assert got["Integral"] == pytest.approx(1 / 3 + 2 / 3 / 3)
    # 101 recalls: 0 to 0.33 (34 of them) have precision 1, 0.34 to 0.66 (33) 2/3.
    assert got["COCO50"] == got["COCO75"] == pytest.approx((34 + 33 * 2 / 3) / 101)
    assert got["COCO"] == pytest.approx(got["COCO50"])


def test_integral_counts_what_max_integral_raises():
    """Wrong, then right: precisions 0, 1/2."""
    truth = {"a": boxes([1, 0, 0, 9, 9, 0])}
    found = {"a": boxes([1, 0.9, 50, 50, 60, 60], [1, 0.5, 0, 0, 9, 9])}
    got = measures(truth, found)
    assert got["11point"] == got["MaxIntegral"] == got["Integral"] == got["COCO"] == 0.5
    # Right, wrong, wrong, right: precisions 1, 1/2, 1/3, 1/2.
    truth["a"] = boxes([1, 0, 0, 9, 9, 0], [1, 20, 0, 29, 9, 0])
    rows = [[1, 0.9, 0, 0, 9, 9], [1, 0.8, 50, 50, 60, 60], [1, 0.7, 70, 50, 80, 60]]
    found["a"] = boxes(*rows, [1, 0.6, 20, 0, 29, 9])
    got = measures(truth, found)
    assert got["Integral"] == got["MaxIntegral"] == 0.5 + 0.25


def test_a_second_detection_of_a_box_is_wrong():
    truth = {"a": boxes([1, 0, 0, 9, 9, 0])}
    found = {"a": boxes([1, 0.5, 0, 0, 9, 9], [1, 0.9, 0, 0, 9, 8])}
    assert measures(truth, found)["Integral"] == 1  # the better one is right, the next wrong
    assert evaluate(truth, found)[1].found == 2
    # COCO at 0.95: the better one overlaps 0.89 only, and the second is right.
    assert measures(truth, found)["COCO50"] == 1
    at = list(COCO_OVERLAPS).index(0.95)
    matched, _ = coco_matches(found["a"][::-1, 2:], truth["a"][:, 1:5], np.array([False]))
    assert matched[0].tolist() == [True, False] and matched[at].tolist() == [False, True]


def test_difficult_boxes_count_neither_way():
    truth = {"a": boxes([1, 0, 0, 9, 9, 1], [1, 20, 0, 29, 9, 0])}
    found = {"a": boxes([1, 0.9, 0, 0, 9, 9], [1, 0.8, 0, 0, 9, 9], [1, 0.5, 20, 0, 29, 9])}
    score = evaluate(truth, found)[1]
    assert (score.boxes, score.found) == (1, 3)
    assert all(score.measures[m] == 1 for m in MEASURES)


def test_pixels_are_counted_by_voc_and_not_by_coco():
    """0..9 and 0..4 share 5 of 10 columns with their last pixels, 4 of 9 without."""
    truth, found = {"a": boxes([1, 0, 0, 9, 9, 0])}, {"a": boxes([1, 1, 0, 0, 4, 9])}
    got = measures(truth, found)
    assert (got["11point"], got["COCO50"]) == (1, 0)
    assert measures(truth, found, overlap=0.51)["11point"] == 0


def test_what_a_part_of_is_in_a_crowd_is_ignored():
    """Half of the first detection is in the crowd: it is ignored up to 0.5, and wrong above."""
    truth = {"a": boxes([1, 0, 0, 100, 100, 1], [1, 200, 0, 210, 10, 0])}
    found = {"a": boxes([1, 0.9, 90, 0, 110, 10], [1, 0.5, 200, 0, 210, 10])}
    got = measures(truth, found)
    assert (got["COCO50"], got["COCO75"]) == (1, 0.5)
    assert got["11point"] == 0.5  # the overlap with the whole of it is small


def test_classes_and_their_mean():
    truth = {"a": boxes([1, 0, 0, 9, 9, 0], [2, 0, 0, 9, 9, 0], [4, 0, 0, 9, 9, 1])}
    found = {"a": boxes([1, 0.9, 0, 0, 9, 9], [3, 0.9, 0, 0, 9, 9]), "b": boxes([1, 1, 0, 0, 1, 1])}
    scores = evaluate(truth, found)
    assert {label: (s.boxes, s.found) for label, s in scores.items()} == {
        1: (1, 1),
        2: (1, 0),
        3: (0, 1),
        4: (0, 0),
    }
    assert mean(scores, "11point") == 0.5  # of 1 and 2
    assert mean({}, "COCO") == 0 and evaluate({}, {}) == {}


# -- by loops --------------------------------------------------------------------------------------


def overlap(a, b, pixel, crowd=False):
    width = min(a[2], b[2]) - max(a[0], b[0]) + pixel
    height = min(a[3], b[3]) - max(a[1], b[1]) + pixel
    if width <= 0 or height <= 0:
        return 0
    area = [(x[2] - x[0] + pixel) * (x[3] - x[1] + pixel) for x in (a, b)]
    return width * height / (area[0] if crowd else area[0] + area[1] - width * height)


def curve(verdicts, positives):
    """(recall, precision) after each of the verdicts True or False, best scores first."""
    points, right = [], 0
    for n, verdict in enumerate(verdicts, 1):
        right += verdict
        points.append((right / positives, right / n))
    return points


def best_at(points, recall):
    return max((p for r, p in points if r >= recall), default=0)


def voc(truth, found, label):
    rows = sorted(
        ((row[1], image, row[2:]) for image in truth for row in found[image] if row[0] == label),
        key=lambda row: -row[0],
    )
    used, verdicts = set(), []
    positives = sum(t[0] == label and not t[5] for rows_ in truth.values() for t in rows_)
    for _, image, box in rows:
        near = [(overlap(box, t[1:5], 1), i) for i, t in enumerate(truth[image]) if t[0] == label]
        most, at = max(near, key=lambda pair: pair[0], default=(0, None))
        if most < 0.5:
            verdicts.append(False)
        elif not truth[image][at][5]:
            verdicts.append((image, at) not in used)
            used.add((image, at))
    points = curve(verdicts, positives)
    integral = envelope = last = 0
    for recall, precision in points:
        integral += precision * (recall - last)
        envelope += best_at(points, recall) * (recall - last)
        last = recall
    eleven = sum(best_at(points, r / 10) for r in range(11)) / 11
    return {"11point": eleven, "MaxIntegral": envelope, "Integral": integral}


def coco(truth, found, label, threshold):
    rows, positives = [], 0
    for image, objects in truth.items():
        regular = [t[1:5] for t in objects if t[0] == label and not t[5]]
        crowds = [t[1:5] for t in objects if t[0] == label and t[5]]
        positives += len(regular)
        taken = set()
        own = sorted((row for row in found[image] if row[0] == label), key=lambda row: -row[1])
        for row in own[:100]:
            free = [i for i in range(len(regular)) if i not in taken]
            good = [i for i in free if overlap(row[2:], regular[i], 0) >= threshold]
            if good:
                taken.add(max(good, key=lambda i: overlap(row[2:], regular[i], 0)))
                rows.append((row[1], True))
            elif not any(overlap(row[2:], c, 0, crowd=True) >= threshold for c in crowds):
                rows.append((row[1], False))
    points = curve([v for _, v in sorted(rows, key=lambda r: -r[0])], positives)
    return sum(best_at(points, r / 100) for r in range(101)) / 101


def scene(rng, images, labels=2):
    """Boxes at random; detections near them with a score of their own, and some elsewhere."""
    truth, found = {}, {}
    for image in range(images):
        count = rng.integers(0, 6)
        corner = rng.uniform(0, 80, (count, 2))
        size = rng.uniform(5, 40, (count, 2))
        kinds = rng.integers(1, labels + 1, (count, 1))
        difficult = rng.random((count, 1)) < 0.2
        truth[image] = np.hstack([kinds, corner, corner + size, difficult])
        which = rng.integers(0, count, 8) if count else np.zeros(0, int)
        near = truth[image][which]
        shaken = near[:, 1:5] + rng.normal(0, 3, (len(which), 4))
        far = rng.uniform(0, 50, (3, 2))
        rest = np.hstack(
            [rng.integers(1, labels + 1, (3, 1)), far, far + rng.uniform(5, 50, (3, 2))]
        )
        rows = np.vstack([np.hstack([near[:, :1], shaken]), rest])
        found[image] = np.insert(rows, 1, rng.random(len(rows)), axis=1)
    return truth, found


@pytest.mark.parametrize("seed", range(20))
def test_random_boxes_against_loops(seed):
    truth, found = scene(np.random.default_rng(seed), 12)
    for label, score in evaluate(truth, found).items():
        got = score.measures
        assert score.boxes
        for name, value in voc(truth, found, label).items():
            assert got[name] == pytest.approx(value, abs=1e-12), name
        each = [coco(truth, found, label, t) for t in COCO_OVERLAPS]
        assert got["COCO"] == pytest.approx(np.mean(each), abs=1e-12)
        assert got["COCO50"] == pytest.approx(each[0], abs=1e-12)
        assert got["COCO75"] == pytest.approx(each[5], abs=1e-12)
        assert 0 < got["COCO"] < got["MaxIntegral"] < 1
