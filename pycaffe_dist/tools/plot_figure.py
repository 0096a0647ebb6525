"""A chart of one or more trainings as a picture, drawn by matplotlib."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pycaffe_dist.aliases import Facts
from pycaffe_dist.files import atomic_write
from pycaffe_dist.optional import require
from pycaffe_dist.tools.plot import LOSS, Curve, PlotError, by_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart also by people who see no red or no green.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
PALE, GREY = "#e4e4e4", "#666666"


def figure_for(path: str, inches: tuple[float, float]) -> tuple[Figure, str]:
    """An empty figure, and the format that the ending of ``path`` names.

    Raises:
        MissingPartError: matplotlib is not installed.
        PlotError: it cannot draw into such a file.
    """
    # Where it cannot write in HOME, it keeps its list of fonts elsewhere: no news for our users.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    matplotlib = require("matplotlib.figure", "plot", "Drawing a chart")
    figure = matplotlib.Figure(figsize=inches, dpi=130, layout="constrained")
    kind = Path(path).suffix[1:].lower() or "png"
    kinds = figure.canvas.get_supported_filetypes()
    if kind not in kinds:
        raise PlotError(f"{path}: cannot draw a .{kind}; use one of {', '.join(sorted(kinds))}")
    return figure, kind


def draw(
    runs: dict[str, list[Curve]], path: str, x: str = "iterations", log_y: bool = False
) -> None:
    """Draw a chart into ``path``; its ending says as what: .png, .pdf, .svg.

    A single run has a colour for each curve; of several, each has its colour and curves differ in
    their strokes.

    Raises:
        MissingPartError: matplotlib is not installed.
        PlotError: it cannot draw into such a file.
    """
    figure, kind = figure_for(path, (9, 5))
    left = figure.add_subplot()
    left.set_xlabel(x)
    left.margins(x=0.01)
    left.xaxis.set_major_formatter("{x:,.6g}")
    left.locator_params(axis="x", integer=x == "iterations")
    to_left, to_right = by_axis(runs)
    right = left.twinx() if to_right else left

    several = len(runs) > 1
    labels = list(dict.fromkeys(c.label for c in to_left + to_right))
    for r, found in enumerate(runs.values()):
        for curve in found:
            c = labels.index(curve.label)
            look = _look(curve.label, r, c) if several else _look(curve.label, c, 0)
            _line(right if curve.right else left, curve, look)
    if log_y:
        left.set_yscale("log")
    _dress(left, to_left)
    if to_right:
        _dress(right, to_right)
        right.grid(False)  # one grid is enough

    grey = {"color": GREY} if several else {}
    looks = [_look(label, c, c if several else 0) | grey for c, label in enumerate(labels)]
    sides = {c.label: " (right)" for c in to_right}
    _legend(figure, left, [label + sides.get(label, "") for label in labels], looks, "lower")
    if several:
        _legend(figure, left, list(runs), [_look("", r, 0) for r in range(len(runs))], "upper")
    else:
        left.set_title(next(iter(runs)), fontsize=11)
    with atomic_write(path) as file:
        figure.savefig(file, format=kind)


def _look(label: str, colour: int, style: int) -> Facts:
    return {
        "color": COLOURS[colour % len(COLOURS)],
        "linestyle": STYLES[style % len(STYLES)],
        "linewidth": 1.5,
        "marker": "o" if label.startswith("test") else "",
        "markersize": 3.5,
    }


def _line(axes: Axes, curve: Curve, look: Facts) -> None:
    """A curve; where it is a mean, what it is the mean of, pale behind it.

    Values at the end of an axis, an accuracy of 1 for one, are drawn whole.
    """
    if len(curve.y) == 1:
        look = look | {"marker": "o"}
    if curve.noisy:
        pale = {"color": look["color"], "linewidth": 0.8, "alpha": 0.25}
        axes.plot(curve.x, curve.noisy, clip_on=False, **pale)
    axes.plot(curve.x, curve.y, clip_on=False, **look)


def _legend(figure: Figure, axes: Axes, names: list[str], looks: list[Facts], where: str) -> None:
    lines = [axes.plot([], [], **look)[0] for look in looks]
    columns = min(len(names), 4)
    look: Facts = {"loc": f"outside {where} center", "ncols": columns, "frameon": False}
    figure.legend(lines, names, **look)


def _dress(axes: Axes, found: Sequence[Curve]) -> None:
    """Title, range and grid of an axis."""
    units = list(dict.fromkeys(c.unit for c in found))
    axes.set_ylabel(", ".join(units) if len(units) <= 3 else "outputs")
    low, high = min(min(c.y) for c in found), max(max(c.y) for c in found)
    if axes.get_yscale() == "log":
        pass  # as far as the values go
    elif units == [LOSS] and low >= 0:
        axes.set_ylim(bottom=0)
    elif low >= 0 and 0.5 < high <= 1:  # what can at most be 1 is seen best against it
        axes.set_ylim(top=1)
    axes.grid(True, color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["top"].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    axes.tick_params(length=3, color=GREY)
