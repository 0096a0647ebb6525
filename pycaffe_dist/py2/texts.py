"""Values as text: a float has twelve digits where nobody asks for another number of them."""

from __future__ import annotations

import re
import string

import numpy as np

from pycaffe_dist.py2.operations import one
from pycaffe_dist.py2.values import Value


def digits(number: float) -> str:
    text = f"{number:.12g}"
    return text if set(text) & set(".en") else text + ".0"


def brief(value: Value) -> Value:
    """What ``str`` is given: the text of a float, as a loss is, and anything else as it is."""
    loss = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "f"
    return digits(float(value)) if type(value) is float or loss else value


def formatted(form: Value, values: Value) -> Value:
    """``form % values``."""
    given = values if isinstance(values, tuple) else (values,)
    if "*" in form or not any(isinstance(value, (np.ndarray, float)) for value in given):
        return form % values
    kinds = re.findall(r"%[-+ #0-9.]*([a-zA-Z])", form.replace("%%", ""))
    if len(kinds) != len(given):
        return form % values  # which says so
    return form % tuple(map(_for, kinds, given))


def _for(kind: str, value: Value) -> Value:
    if kind == "s":
        return brief(value)
    return value if kind == "r" else one(value)


class _Shown(string.Formatter):
    """What has no form of its own (None, tuples, lists) is shown as text."""

    def format_field(self, value: Value, format_spec: str) -> str:
        if not format_spec:
            value = float(value) if isinstance(value, (float, np.floating)) else value
            return format(brief(value), format_spec)
        try:
            return format(value, format_spec)
        except TypeError:
            return format(str(value), format_spec)


def shown(form: str, *values: Value, **named: Value) -> str:
    """``form.format(values)``: ``'{:>10}'`` takes anything."""
    return _Shown().vformat(form, values, named)
