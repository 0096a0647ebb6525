"""``math``: whole numbers as floats."""

import math as _real

from pycaffe_dist.py2.shadows import over
from pycaffe_dist.py2.values import Value

OURS = ("ceil", "floor")


def ceil(x: Value) -> float:
    return float(_real.ceil(x))


def floor(x: Value) -> float:
    return float(_real.floor(x))


__getattr__ = over(_real, globals())
