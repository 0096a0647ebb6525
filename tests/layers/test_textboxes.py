"""What TextBoxes++ added to SSD: denser priors, and polygons beside the boxes."""

import numpy as np
import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.testing import LayerCase, LayerRun


def run(layer, inputs):
    return LayerRun(LayerCase(layer, inputs), np.float32).forward()[0]


def test_each_prior_has_one_of_its_size_on_the_lower_edge_of_the_cell():
    layer = 'type: "PriorBox" prior_box_param { min_size: 4 max_size: 9 denser_prior_boxes: true }'
    got = run(layer, [(1, 1, 2, 1), (1, 3, 10, 20)]).reshape(2, -1, 4)
    # Cells of 20 x 5 with the centres 2.5 and 7.5, the lower edges 5 and 10; boxes of 4 and 6.
    want = [
        [10 - half, y - half, 10 + half, y + half]
        for low in (0, 5)
        for half in (2, 3)
        for y in (low + 2.5, low + 5)
    ]
    np.testing.assert_allclose(got[0], np.array(want) / [20, 10, 20, 10], atol=1e-6)
    np.testing.assert_allclose(got[1], np.full((8, 4), 0.1))


PRIORS = np.array([[0.1, 0.2, 0.3, 0.6], [0.5, 0.5, 0.9, 0.7]])
BOTH = np.stack([PRIORS.ravel(), np.tile([0.1, 0.2, 0.3, 0.4], 2)])[None]
POLYGON = "use_polygon: true code_type: CENTER_SIZE num_classes: 2"


def polygons(settings=POLYGON, offsets=None, scores=((0.9, 0.1, 0.2, 0.8),)):
    layer = f'type: "DetectionOutput" detection_output_param {{ {settings} }}'
    offsets = np.zeros((1, 24)) if offsets is None else offsets
    return run(layer, [offsets, np.array(scores), BOTH])[0, 0]


def test_polygons_without_offsets_are_the_corners_of_the_priors():
    got = polygons()
    np.testing.assert_allclose(got[:, :3], [[0, 1, 0.8], [0, 1, 0.1]])
    np.testing.assert_allclose(got[:, 3:7], PRIORS[::-1], rtol=1e-6)
    x1, y1, x2, y2 = PRIORS[::-1].T
    np.testing.assert_allclose(got[:, 7:], np.stack([x1, y1, x2, y1, x2, y2, x1, y2], 1), rtol=1e-6)


@pytest.mark.parametrize("shared", [True, False])
def test_corners_move_in_parts_of_the_prior(shared):
    offsets = np.zeros((1, 2, 1 if shared else 2, 12))
    offsets[0, 1, -1, 4:] = np.arange(8)
    got = polygons(
        f"{POLYGON} share_location: {str(shared).lower()} confidence_threshold: 0.5",
        offsets.reshape(1, -1),
    )
    x1, y1, x2, y2 = PRIORS[1]
    moved = np.arange(8) * np.tile([0.1 * 0.4, 0.2 * 0.2], 4)  # variance times width and height
    np.testing.assert_allclose(got[0, 3:7], PRIORS[1], rtol=1e-6)
    corners = np.array([x1, y1, x2, y1, x2, y2, x1, y2])
    np.testing.assert_allclose(got[0, 7:], corners + moved, rtol=1e-5)


def test_an_image_without_a_polygon_has_a_row_of_that_width():
    got = polygons(f"{POLYGON} confidence_threshold: 0.95")
    np.testing.assert_array_equal(got, [[0] + [-1] * 14])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("num_classes: 2 use_polygon: true", "use_polygon goes with code_type CENTER_SIZE"),
        (f"{POLYGON} variance_encoded_in_target: true", "without variance_encoded_in_target"),
        ("num_classes: 2", r"take offsets of the shape \(1, 8\)"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(NetError, match=message):
        polygons(settings)
