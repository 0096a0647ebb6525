"""Functions of today that take the arguments of yesterday."""

from __future__ import annotations

import functools
from collections.abc import Callable

from pycaffe_dist.py2.values import Names, Value

Adding = Callable[[Value], Names]  # what a module gets; it may also be changed in place


def old_words(function: Value, **new: str | None) -> Value:
    """``function`` that knows keywords by their old names, and leaves out those that have none."""

    @functools.wraps(function)
    def call(*args: Value, **kwargs: Value) -> Value:
        for word in new.keys() & kwargs.keys():
            value, instead = kwargs.pop(word), new[word]
            if instead is not None and kwargs.get(instead) is None:
                kwargs[instead] = value
        return function(*args, **kwargs)

    return call


def in_place(owner: Value, names: tuple[str, ...], change: Callable[[Value], Value]) -> None:
    """Exchange functions of a module, or methods of a class, for what ``change`` makes of them."""
    for name in names:
        if hasattr(owner, name):
            setattr(owner, name, change(getattr(owner, name)))
