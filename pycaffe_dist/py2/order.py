"""Comparing as Python 2 and its NumPy did.

Python 2 orders everything: None, then numbers, then the others by the names of their types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Number

import numpy as np

from pycaffe_dist.py2.values import Value


def equal(a: Value, b: Value) -> Value:
    """``a == b``: of arrays one answer where they cannot be compared value by value.

    ``array == None`` and ``array == []`` were False.
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if a is None or b is None:
            return False
        try:
            return a == b
        except ValueError:  # of shapes that do not fit
            return False
    return a == b


def not_equal(a: Value, b: Value) -> Value:
    """``a != b``."""
    same = equal(a, b)
    return a != b if isinstance(same, np.ndarray) else not same


def less(a: Value, b: Value) -> Value:
    """``a < b``."""
    return _ordered(operator.lt, a, b)


def less_or_equal(a: Value, b: Value) -> Value:
    """``a <= b``."""
    return _ordered(operator.le, a, b)


def greater(a: Value, b: Value) -> Value:
    """``a > b``."""
    return _ordered(operator.gt, a, b)


def greater_or_equal(a: Value, b: Value) -> Value:
    """``a >= b``."""
    return _ordered(operator.ge, a, b)


def _ordered(compare: Callable[[Value, Value], Value], a: Value, b: Value) -> Value:
    try:
        return compare(a, b)
    except TypeError:
        if hasattr(type(a), "__cmp__"):
            return compare(a.__cmp__(b), 0)
        if type(a) is type(b) and isinstance(a, (list, tuple)):
            return _ordered(compare, *next((x, y) for x, y in zip(a, b, strict=False) if x != y))
        places = _place(a), _place(b)
        if places[0] == places[1]:  # Python 2 cannot order them either, or goes by addresses
            raise
        return compare(*places)


def _place(value: Value) -> tuple[int, str]:
    if value is None:
        return 0, ""
    return (1, "") if isinstance(value, Number) else (2, type(value).__name__)


def cmp(a: Value, b: Value) -> int:
    return int(greater(a, b)) - int(less(a, b))
