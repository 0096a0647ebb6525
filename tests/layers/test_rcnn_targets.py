"""What Faster R-CNN learns from: boxes whose anchors and regions are counted by hand."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.layers.rcnn.proposal import shifted
from pycaffe_dist.testing import LayerCase, LayerRun

INFO = np.array([[64.0, 96, 1]])


def tops(layer, *bottoms, count):
    return LayerRun(LayerCase(layer, list(bottoms), tops=count)).forward()


# -- the truth -------------------------------------------------------------------------------------


def test_the_truth_in_pixels():
    rows = np.array([[[[0, 2, 0, 0.25, 0.5, 0.75, 1, 0], [0, 1, 1, 0, 0, 1, 0.5, 1]]]])
    info, boxes = tops('type: "RcnnTruth"', np.zeros((1, 3, 20, 40)), rows, count=2)
    np.testing.assert_array_equal(info, [[20, 40, 1]])
    np.testing.assert_array_equal(boxes, [[10, 10, 29, 19, 2], [0, 0, 39, 9, 1]])


def test_an_image_without_boxes():
    nothing = np.full((1, 1, 1, 8), -1.0)
    assert tops('type: "RcnnTruth"', np.zeros((1, 3, 20, 40)), nothing, count=2)[1].shape == (0, 5)


def test_a_class_that_is_none_is_refused():
    rows = np.array([[[[0, 3, 0, 0, 0, 1, 1, 0.0]]]])
    layer = 'type: "RcnnTruth" rcnn_truth_param { num_classes: 3 }'
    with pytest.raises(NetError, match=r"class \[3\.\] is none of 1 to 2"):
        tops(layer, np.zeros((1, 3, 20, 40)), rows, count=2)


# -- anchors ---------------------------------------------------------------------------------------

# One square anchor of 16 and one of 32 pixels for every place of 4 x 6.
ANCHORS = 'type: "AnchorTarget" anchor_target_param { ratio: 1 scale: 1 scale: 2 %s }'
SCORES = np.zeros((1, 4, 4, 6))


def anchor_targets(truth, more="", info=INFO):
    labels, *maps = tops(ANCHORS % more, SCORES, np.array(truth, float), info, count=4)
    return labels.reshape(2, 4, 6), *(m.reshape(2, 4, 4, 6) for m in maps)


def test_an_anchor_on_a_box_and_those_far_from_it():
    labels, targets, inner, outer = anchor_targets([[32, 16, 47, 31, 1]])
    assert labels[0, 1, 2] == 1
    assert (labels == 1).sum() == 1
    assert not targets[0, :, 1, 2].any()
    # Anchors of 32 pixels around it overlap it by a quarter: background; at the edges of the
    # image they would be cut, and are ignored.
    assert (labels[1, 1:-1, 1:-1] == 0).all()
    assert (labels[1, 0] == -1).all()
    np.testing.assert_array_equal(inner, np.repeat(labels[:, None] == 1, 4, axis=1))
    counted = labels != -1
    want = np.repeat(counted[:, None], 4, axis=1) / counted.sum()
    np.testing.assert_allclose(outer, want, rtol=1e-6)


def test_targets_lead_to_the_box():
    truth = [[30, 13, 50, 30, 1]]
    labels, targets, *_ = anchor_targets(truth, "positive_overlap: 0.5")
    (a, y, x) = np.argwhere(labels == 1)[0]
    side, middle = 16 * (a + 1), 7.5
    anchor = np.array([x * 16, y * 16] * 2) + middle + np.array([-1, -1, 1, 1]) * (side - 1) / 2
    shift = targets[a, :, y, x].reshape(1, 4, 1, 1)
    x1, y1, x2, y2 = shifted(anchor.reshape(1, 1, 1, 4), shift)[0]
    # Proposal adds a size to the first pixel: its last one is one too far, as R-CNN's is.
    np.testing.assert_allclose([x1, y1, x2 - 1, y2 - 1], truth[0][:4], atol=1e-4)


def test_the_best_anchor_of_a_box_is_an_object_however_small_its_overlap():
    labels, *_ = anchor_targets([[36, 20, 41, 25, 1]])
    assert labels[0, 1, 2] == 1


def test_no_more_than_the_batch():
    truth = [[32, 16, 47, 31, 1], [64, 32, 79, 47, 2], [16, 48, 31, 63, 1]]
    labels, *_ = anchor_targets(truth, "batch_size: 4")
    assert ((labels == 1).sum(), (labels == 0).sum()) == (2, 2)
    labels, *_ = anchor_targets(np.zeros((0, 5)), "batch_size: 4")
    assert ((labels == 1).sum(), (labels == 0).sum()) == (0, 4)


def test_anchors_end_where_the_image_ends():
    labels, *_ = anchor_targets([[0, 0, 15, 15, 1]], info=np.array([[32.0, 48, 1]]))
    assert (labels[:, 2:] == -1).all()
    assert (labels[:, :, 3:] == -1).all()


# -- regions ---------------------------------------------------------------------------------------

TRUTH = np.array([[10, 10, 29, 29, 2], [60, 20, 79, 49, 1.0]])
REGIONS = 'type: "RegionTarget" region_target_param { num_classes: 3 %s }'


def test_objects_come_first_with_targets_in_their_class():
    regions = np.array([[0, 10, 10, 29, 25], [0, 40, 40, 59, 59.0]])
    kept, labels, targets, inner, outer = tops(REGIONS % "", regions, TRUTH, count=5)
    # A region over the first box, then the boxes themselves, then background.
    np.testing.assert_array_equal(kept[:, 1:], [regions[0, 1:], *TRUTH[:, :4], regions[1, 1:]])
    np.testing.assert_array_equal(labels, [2, 2, 1, 0])
    want = np.zeros((4, 3, 4))
    want[0, 2] = [0, (19.5 - 17.5) / 16 / 0.1, 0, np.log(20 / 16) / 0.2]
    np.testing.assert_allclose(targets.reshape(4, 3, 4), want, atol=1e-5)
    ones = np.zeros((4, 3, 4))
    ones[[0, 1, 2], [2, 2, 1]] = 1
    np.testing.assert_array_equal(inner.reshape(4, 3, 4), ones)
    np.testing.assert_array_equal(outer, inner)


def test_a_quarter_are_objects():
    regions = np.tile([0, 10, 10, 29, 29.0], (30, 1))
    regions[10:, 1:] += 100
    kept, labels, *_ = tops(REGIONS % "batch_size: 8", regions, TRUTH, count=5)
    assert len(kept) == 8
    assert ((labels > 0).sum(), (labels == 0).sum()) == (2, 6)


def test_regions_far_from_every_box_may_be_left_out():
    regions = np.array([[0, 10, 20, 29, 39], [0, 200, 200, 219, 219.0]])
    kept, labels, *_ = tops(REGIONS % "negative_overlap: 0.1", regions, TRUTH, count=5)
    np.testing.assert_array_equal(labels, [2, 1, 0])
    np.testing.assert_array_equal(kept[2], regions[0])


def test_an_image_without_truth_gives_background_alone():
    regions = np.array([[0, 10, 20, 29, 39.0]])
    kept, labels, targets, *_ = tops(REGIONS % "", regions, np.zeros((0, 5)), count=5)
    assert (len(kept), labels.sum(), targets.any()) == (1, 0, False)


@pytest.mark.parametrize(
    ("layer", "bottoms", "message"),
    [
        ('type: "RcnnTruth"', [(2, 3, 8, 8), (1, 1, 2, 8)], "takes one image"),
        ('type: "RcnnTruth"', [(1, 3, 8, 8), (1, 1, 2, 7)], "takes a truth of the shape"),
        (ANCHORS % "", [(1, 6, 4, 6), (1, 5), (1, 3)], r"2 anchors need scores \(1, 4, h, w\)"),
        (ANCHORS % "", [(1, 4, 4, 6), (1, 8), (1, 3)], r"needs boxes \(G, 5\)"),
        (REGIONS % "", [(3, 4), (1, 5)], "needs rows of five"),
        (REGIONS % "std: 1", [(3, 5), (1, 5)], "std are four numbers above 0"),
        (REGIONS % "positive_fraction: inf", [(3, 5), (1, 5)], "positive_fraction is 0 to 1"),
        (ANCHORS % "positive_fraction: nan", [(1, 4, 4, 6), (1, 5), (1, 3)], "is 0 to 1, not nan"),
        (ANCHORS % "base_size: 0", [(1, 4, 4, 6), (1, 5), (1, 3)], "base_size must be above 0"),
    ],
)
def test_what_does_not_fit_is_refused(layer, bottoms, message):
    count = 2 if "RcnnTruth" in layer else 4 if "AnchorTarget" in layer else 5
    with pytest.raises(NetError, match=message):
        tops(layer, *map(np.ones, bottoms), count=count)
