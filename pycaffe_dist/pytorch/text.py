"""Numbers and arguments as they are written in a module."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def number(value: float) -> str:
    """As short as float32 has it."""
    value = float(np.float32(value))
    short = float(f"{value:.7g}")
    return f"{int(short)}" if short == int(short) and abs(short) < 1e6 else f"{short!r}"


def sizes(values: Iterable[int]) -> str:
    """One number where all are the same."""
    found = [int(v) for v in values]
    return str(found[0]) if len(set(found)) == 1 else str(tuple(found))


def arguments(**given: object) -> str:
    return "".join(f", {name}={value}" for name, value in given.items() if value is not None)


def line(x: str, scale: float, shift: float) -> str:
    """scale * x + shift."""
    x = x if scale == 1 else f"{number(scale)} * {x}"
    return x if shift == 0 else f"{x} + {number(shift)}"
