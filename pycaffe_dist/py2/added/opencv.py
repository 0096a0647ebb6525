"""OpenCV."""

from __future__ import annotations

import functools
from itertools import chain
from numbers import Number

import numpy as np

from pycaffe_dist.py2.added.charts import headless
from pycaffe_dist.py2.added.words import Adding, in_place
from pycaffe_dist.py2.values import Names, Value

# Functions that take points, and that cut floats in them to integers.
DRAWING = ("arrowedLine", "circle", "ellipse", "line", "putText", "rectangle", "resize")
# Others that take points or colours of NumPy's numbers, which were Python's own then.
OF_NUMBERS = (
    *("copyMakeBorder", "drawContours", "fillConvexPoly", "fillPoly", "getRotationMatrix2D"),
    *("polylines", "warpAffine", "warpPerspective"),
)
WINDOWS = ("destroyAllWindows", "imshow", "moveWindow", "namedWindow", "resizeWindow")
FEW = 3  # a group of fewer rectangles gives way to one around it


class _Cv:
    """``cv2.cv``: OpenCV's names of before 2015, by those of today."""

    def __init__(self, module: Value) -> None:
        self._module = module

    @staticmethod
    def RGB(r: Value, g: Value, b: Value) -> tuple[Value, ...]:
        return b, g, r, 0

    @staticmethod
    def Scalar(*values: Value) -> tuple[Value, ...]:
        return values

    def __getattr__(self, name: str) -> Value:
        bare = name.removeprefix("CV_").replace("HAAR_", "CASCADE_")
        if bare == "FOURCC":
            return self._module.VideoWriter_fourcc
        if bare == "AA":
            return self._module.LINE_AA
        if bare == "BoxPoints":
            return self._module.boxPoints
        for new in (bare, f"COLOR_{bare}", bare.replace("LOAD_IMAGE", "IMREAD")):
            if hasattr(self._module, new):
                return getattr(self._module, new)
        raise AttributeError(f"cv2.cv has no {name}")


def _cv2(module: Value) -> Names:
    if headless():  # a window is not worth the script's end
        for name in WINDOWS:
            setattr(module, name, lambda *args, **kwargs: None)
        module.waitKey = lambda delay=0: -1
    in_place(module, DRAWING, lambda f: _converting(f, _point))
    in_place(module, OF_NUMBERS, lambda f: _converting(f, _plain))
    module.groupRectangles = group_rectangles
    cv = _Cv(module)
    kinds = ("UNCHANGED", "GRAYSCALE", "COLOR")
    old = {f"CV_LOAD_IMAGE_{kind}": getattr(module, f"IMREAD_{kind}") for kind in kinds}

    def rigid(src: Value, dst: Value, fullAffine: bool) -> Value:
        estimate = module.estimateAffine2D if fullAffine else module.estimateAffinePartial2D
        return estimate(src, dst)[0]

    return {**old, "CV_AA": module.LINE_AA, "cv": cv, "estimateRigidTransform": rigid}


def _converting(function: Value, convert: Value) -> Value:
    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        return function(*map(convert, args), **{k: convert(v) for k, v in kwargs.items()})

    return call


def _plain(value: Value) -> Value:
    """A point or a colour with Python's numbers, from a tuple, a list or an array."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and 2 <= len(value) <= 4:
        return tuple(value.tolist())
    if isinstance(value, (tuple, list)) and all(isinstance(x, Number) for x in value):
        return type(value)(x.item() if isinstance(x, np.generic) else x for x in value)
    return value


def _point(value: Value) -> Value:
    """Points are tuples of two numbers, cut to integers; a tuple of more is a colour."""
    value = _plain(value)
    pair = isinstance(value, (tuple, list)) and len(value) == 2
    return tuple(int(x) for x in value) if pair else value


# -- rectangles that are alike ---------------------------------------------------------------------


def group_rectangles(rectList: Value, groupThreshold: int, eps: float = 0.2) -> Value:
    """``groupRectangles``: the means (x, y, width, height) of groups, and how many are in each.

    It is in OpenCV's contributed modules today, and takes integers only.
    """
    boxes = np.array(rectList, np.float64).reshape(-1, 4).astype(int)
    if groupThreshold <= 0:
        return boxes.astype(np.int32), np.ones((len(boxes), 1), np.int32)
    groups = _groups(boxes, eps)
    kept = [(np.rint(boxes[g].mean(axis=0)), len(g)) for g in groups if len(g) > groupThreshold]
    found = [one for one in kept if not any(_within(one, o, eps) for o in kept if o is not one)]
    if not found:
        return (), ()
    means, counts = zip(*found, strict=True)
    return np.array(means, np.int32), np.array(counts, np.int32)[:, None]


def _groups(boxes: Value, eps: float) -> list[list[int]]:
    """Rows that are alike, or linked by rows that are."""
    groups: list[list[int]] = []
    for i in range(len(boxes)):
        near = [g for g in groups if _alike(boxes[i], boxes[g], eps).any()]
        groups = [g for g in groups if g not in near] + [sorted([*chain(*near), i])]
    return sorted(groups)


def _alike(box: Value, others: Value, eps: float) -> Value:
    width, height = np.minimum(box[2:], others[:, 2:]).T
    corners = (
        np.abs(others[:, :2] - box[:2]),
        np.abs((others[:, :2] + others[:, 2:]) - (box[:2] + box[2:])),
    )
    return np.concatenate(corners, axis=1).max(axis=1) <= eps * (width + height) * 0.5


def _within(one: Value, other: Value, eps: float) -> bool:
    """A group in another that counts more."""
    (box, count), (around, more) = one, other
    if not (more > max(FEW, count) or count < FEW):
        return False
    margin = np.rint(around[2:] * eps)
    ends = box[:2] + box[2:] <= around[:2] + around[2:] + margin
    return bool((box[:2] >= around[:2] - margin).all() and ends.all())


ADDED: dict[str, Adding] = {"cv2": _cv2}
