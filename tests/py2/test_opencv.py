"""OpenCV of 2015, with a stand-in that has what it has today."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.py2.added import ADDED
from pycaffe_dist.py2.added.opencv import group_rectangles


def told(*args, **kwargs):
    return args, kwargs


@pytest.fixture
def cv2():
    module = SimpleNamespace(rectangle=told, resize=told, VideoWriter_fourcc=lambda *c: "".join(c))
    module.LINE_AA, module.COLOR_BGR2GRAY, module.CAP_PROP_FPS = 16, 6, 5
    module.polylines = module.getRotationMatrix2D = module.boxPoints = told
    module.estimateAffine2D = module.estimateAffinePartial2D = lambda *points: (points, "inliers")
    module.CASCADE_SCALE_IMAGE = 2
    module.IMREAD_UNCHANGED, module.IMREAD_GRAYSCALE, module.IMREAD_COLOR = -1, 0, 1
    vars(module).update(ADDED["cv2"](module))
    return module


def test_opencv_draws_at_floats(cv2):
    args, _ = cv2.rectangle("image", (1.7, np.float32(2)), (3, 4.2), (0, 0, 255.5), 2)
    assert args == ("image", (1, 2), (3, 4), (0, 0, 255.5), 2)
    assert cv2.rectangle(np.zeros((4, 4)), (1, 1), (2, 2), np.array([1, 2, 3]))[0][3] == (1, 2, 3)
    assert cv2.resize("image", (3.0, 4.0), fx=0.5) == (("image", (3, 4)), {"fx": 0.5})


def test_opencv_has_its_names_of_before_2015(cv2):
    cv = cv2.cv
    assert (cv.CV_BGR2GRAY, cv.CV_CAP_PROP_FPS, cv.CV_AA, cv2.CV_AA) == (6, 5, 16, 16)
    assert (cv.CV_LOAD_IMAGE_COLOR, cv2.CV_LOAD_IMAGE_GRAYSCALE) == (1, 0)
    assert (cv.RGB(1, 2, 3), cv.Scalar(1, 2), cv.CV_HAAR_SCALE_IMAGE) == ((3, 2, 1, 0), (1, 2), 2)
    assert cv.BoxPoints("box") == (("box",), {})
    assert cv2.estimateRigidTransform("a", "b", False) == ("a", "b")
    assert cv.CV_FOURCC(*"XVID") == "XVID"
    with pytest.raises(AttributeError, match="CV_NOTHING"):
        _ = cv.CV_NOTHING


def test_opencv_takes_numpys_numbers(cv2):
    centre = (np.int64(5), np.float32(2.5))
    args, _ = cv2.getRotationMatrix2D(centre, 30, 1)
    assert args == ((5, 2.5), 30, 1) and [type(x) for x in args[0]] == [int, float]
    points = [np.array([[1, 1], [2, 2]])]
    args, words = cv2.polylines("image", points, True, color=(np.int64(1), 2, np.uint8(3)))
    assert args[1] is points and [type(x) for x in words["color"]] == [int, int, int]


def test_rectangles_that_are_alike_are_one():
    boxes = [[10.7, 10, 40, 40], [12, 11, 40, 41], [11, 10, 41, 40], [200, 10, 40, 40]]
    found, weights = group_rectangles(boxes, 1, 0.2)
    assert found.tolist() == [[11, 10, 40, 40]] and weights.tolist() == [[3]]
    found, weights = group_rectangles(boxes, 0)
    assert found.tolist()[0] == [10, 10, 40, 40] and weights.ravel().tolist() == [1, 1, 1, 1]
    assert group_rectangles([], 1) == group_rectangles(boxes[3:], 1) == ((), ())


def test_rectangles_are_linked_by_those_between_them():
    row = [[x, 0, 100, 100] for x in (0, 30, 15)]
    found, weights = group_rectangles(row, 1, 0.2)
    assert found.tolist() == [[15, 0, 100, 100]] and weights.tolist() == [[3]]


def test_a_small_group_within_a_larger_one_goes():
    around, inside = [[0, 0, 100, 100]] * 4, [[30, 30, 20, 20]] * 2
    found, weights = group_rectangles(around + inside, 1, 0.2)
    assert found.tolist() == [[0, 0, 100, 100]] and weights.tolist() == [[4]]
    found, _ = group_rectangles(around + inside * 2, 1, 0.2)
    assert found.tolist() == [[0, 0, 100, 100], [30, 30, 20, 20]]
