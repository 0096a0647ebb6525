"""Functions of today that take the arguments of yesterday."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Adding = Callable[[Any], dict[str, Any]]  # what a module gets; it may also be changed in place


def old_words(function: Any, **new: str | None) -> Any:
    """``function`` that knows keywords by their old names, and leaves out those that have none."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for word in new.keys() & kwargs.keys():
            value, instead = kwargs.pop(word), new[word]
            if instead is not None and kwargs.get(instead) is None:
                kwargs[instead] = value
        return function(*args, **kwargs)

    return call


def in_place(owner: Any, names: tuple[str, ...], change: Callable[[Any], Any]) -> None:
    """Exchange functions of a module, or methods of a class, for what ``change`` makes of them."""
    for name in names:
        if hasattr(owner, name):
            setattr(owner, name, change(getattr(owner, name)))
