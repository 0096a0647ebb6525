"""Charts of trainings in the characters of a terminal."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import replace

from pycaffe_dist.tools.plot import Curve, by_axis

MARKS = ".o*x+#%@"


def chart(
    runs: dict[str, list[Curve]],
    width: int = 80,
    height: int = 24,
    x: str = "iterations",
    log_y: bool = False,
) -> list[str]:
    """Lines of plain characters, at most ``width`` by ``height``, with the same two axes."""
    if log_y:
        runs = {name: [_logarithm(c) for c in found] for name, found in runs.items()}
    drawn = [(name, curve) for name, found in runs.items() for curve in found]
    drawn.sort(key=lambda pair: pair[1].right)
    marks = [MARKS[i % len(MARKS)] for i in range(len(drawn))]
    entries = [
        f"{mark} {name + ': ' if len(runs) > 1 else ''}{c.label}{' (right)' if c.right else ''}"
        for mark, (name, c) in zip(marks, drawn, strict=True)
    ]
    legend = _fill(entries, width)
    rows = max(height - len(legend) - 2, 4)
    to_left, to_right = by_axis(runs)
    up = {False: _range(to_left), True: _range(to_right)}
    left = _ticks(up[False], rows, log_y)
    right = _ticks(up[True], rows) if to_right else [""] * rows
    margin = max(map(len, left))
    columns = max(width - margin - max(map(len, right)) - 4, 10)

    first, last = min(c.x[0] for _, c in drawn), max(c.x[-1] for _, c in drawn)
    grid = [[" "] * columns for _ in range(rows)]
    for mark, (_, curve) in zip(marks, drawn, strict=True):
        _trace(grid, mark, curve, (first, last), up[curve.right])
    body = [
        f"{label:>{margin}} |{''.join(line)}| {other}".rstrip()
        for label, line, other in zip(left, grid, right, strict=True)
    ]
    ends = f"{first:.6g}", f"{last:.6g} {x}"
    below = ends[0] + ends[1].rjust(columns - len(ends[0]))
    return [*legend, *body, f"{'':{margin}} +{'-' * columns}+", f"{'':{margin}}  {below}"]


def _fill(entries: Sequence[str], width: int) -> list[str]:
    """Entries in as few lines as they need."""
    lines = [entries[0]]
    for entry in entries[1:]:
        if len(lines[-1]) + 3 + len(entry) <= width:
            lines[-1] += "   " + entry
        else:
            lines.append(entry)
    return [line[:width] for line in lines]


def _range(found: Sequence[Curve]) -> tuple[float, float]:
    low = min((min(c.y) for c in found), default=0.0)
    high = max((max(c.y) for c in found), default=1.0)
    space = 0.0 if low < high else abs(low) / 10 or 0.5
    return low - space, high + space


def _logarithm(curve: Curve) -> Curve:
    return curve if curve.right else replace(curve, y=[math.log10(y) for y in curve.y])


def _ticks(limits: tuple[float, float], rows: int, log_y: bool = False) -> list[str]:
    """What stands beside each row, from the top down: a number at about every fourth."""
    low, high = limits
    count = max((rows - 1) // 4, 1)
    numbered = {round(i * (rows - 1) / count) for i in range(count + 1)}
    step = (high - low) / (rows - 1)
    values = [high - step * row for row in range(rows)]
    return [
        f"{10**value if log_y else value:.4g}" if row in numbered else ""
        for row, value in enumerate(values)
    ]


def _trace(
    grid: list[list[str]],
    mark: str,
    curve: Curve,
    across: tuple[float, float],
    up: tuple[float, float],
) -> None:
    """Put ``mark`` wherever the curve passes, upright stretches included."""
    rows, columns = len(grid), len(grid[0])
    scale = (across[1] - across[0]) or 1.0
    at = [(value - across[0]) / scale * (columns - 1) for value in curve.x]
    before = None
    for column in range(math.ceil(at[0] - 0.5), math.floor(at[-1] + 0.5) + 1):
        value = _between(at, curve.y, column)
        row = round((up[1] - value) / (up[1] - up[0]) * (rows - 1))
        for passed in _steps(before, row):
            grid[passed][column] = mark
        before = row


def _between(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """The value at ``x`` on the straight line between its neighbours."""
    i = min(max(bisect.bisect_right(xs, x), 1), len(xs) - 1)
    if i == 0 or xs[i] == xs[i - 1]:
        return ys[i]
    part = min(max((x - xs[i - 1]) / (xs[i] - xs[i - 1]), 0.0), 1.0)
    return ys[i - 1] + part * (ys[i] - ys[i - 1])


def _steps(before: int | None, row: int) -> range:
    """The rows from the one after ``before`` to ``row``."""
    if before is None or before == row:
        return range(row, row + 1)
    return range(before + 1, row + 1) if row > before else range(row, before)
