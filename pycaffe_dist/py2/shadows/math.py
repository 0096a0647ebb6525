"""``math``: whole numbers as floats."""

import math as _real
from typing import Any

from pycaffe_dist.py2.shadows import over

OURS = ("ceil", "floor")


def ceil(x: Any) -> float:
    return float(_real.ceil(x))


def floor(x: Any) -> float:
    return float(_real.floor(x))


__getattr__ = over(_real, globals())
