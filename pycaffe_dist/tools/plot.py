"""Charts of one or more trainings: as a picture, or in the characters of a terminal."""

from __future__ import annotations

import bisect
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import atomic_write, read_bytes
from pycaffe_dist.optional import require
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.report.metrics import read_metrics
from pycaffe_dist.tools.parse_log import Row, Run, read_log

GROUPS = ("loss", "accuracy")
LOSS, RATE = "loss", "learning rate"


class PlotError(PcdError):
    """A chart that cannot be drawn."""


@dataclass
class Curve:
    """A line of a chart.

    Attributes:
        word: what selects it besides its group: the output's name, or "lr".
        group: "loss", "accuracy", or "" for what is drawn only when it is asked for.
        unit: what its axis is called.
        right: whether that is the right axis.
    """

    label: str
    word: str
    group: str
    unit: str
    x: list[float]
    y: list[float]
    right: bool = False


# -- reading ---------------------------------------------------------------------------------------


def read_run(path: str | os.PathLike[str]) -> Run:
    """The training of a log or of a metrics file, whichever it is."""
    if not read_bytes(path, 64).lstrip().startswith(b"{"):
        return read_log(path)
    try:
        run = run_of_metrics(read_metrics(path))
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise FileError(f"{path}: is no metrics file of pcd train: {e!r}") from e
    if not run.train and not run.test:
        raise FileError(f'{path}: tells of no training: no object is of the kind "train" or "test"')
    return run


def run_of_metrics(objects: Sequence[dict[str, Any]]) -> Run:
    """A metrics file's objects as a log would have told them."""
    run, start, offset = Run(), None, 0.0
    for o in objects:
        if o["kind"] == "begin":
            start = o["time"] if start is None else start
            offset = o["time"] - start
        elif o["kind"] in ("train", "test"):
            row = Row(o["iteration"], offset + o["seconds"], net=o.get("net", 0))
            row.rate = float("nan" if o.get("lr") is None else o["lr"])
            row.loss = float(o["loss"]) if "loss" in o else None
            row.outputs = {name: float(value) for name, value in o["outputs"].items()}
            row.losses = set(o["loss_weights"])
            (run.train if o["kind"] == "train" else run.test).append(row)
    return run


# -- curves ----------------------------------------------------------------------------------------


def select(run: Run, words: Sequence[str], x: str = "iterations") -> list[Curve]:
    """The curves that ``words`` ask for: groups, names of outputs, or lr.

    Args:
        run: what to draw.
        words: "loss", "accuracy", an output's name, "lr".
        x: "iterations" or "seconds".
    """
    names = set(words) - set(GROUPS)
    return [c for c in curves(run, x) if c.group in words or c.word in names]


def curves(run: Run, x: str) -> Iterator[Curve]:
    """Everything that can be drawn."""
    train = lasting(run.train)
    yield from _curve("train loss", "", "loss", LOSS, train, [row.loss for row in train], x)
    yield from _curve("learning rate", "lr", "", RATE, train, [row.rate for row in train], x)
    yield from _outputs("train", train, "", "", x)
    for net in sorted({row.net for row in run.test}):
        rows = lasting([row for row in run.test if row.net == net])
        where = f"test{net}" if net else "test"
        yield from _outputs(where, rows, "loss", "accuracy", x)
        total = [row.loss for row in rows]
        yield from _curve(f"{where} total loss", "", "loss", LOSS, rows, total, x)


def lasting(rows: Sequence[Row]) -> list[Row]:
    """Rows without those that a resume from an earlier iteration has replaced."""
    kept: list[Row] = []
    for row in reversed(rows):
        if not kept or row.iteration < kept[-1].iteration:
            kept.append(row)
    return kept[::-1]


def _outputs(where: str, rows: list[Row], losses: str, scores: str, x: str) -> Iterator[Curve]:
    """A curve for each output, in the group ``losses`` or ``scores``."""
    for name in dict.fromkeys(name for row in rows for name in row.outputs):
        is_loss = any(name in row.losses for row in rows)
        group, unit = (losses, LOSS) if is_loss else (scores, name)
        values = [row.outputs.get(name) for row in rows]
        yield from _curve(f"{where} {name}", name, group, unit, rows, values, x)


def _curve(
    label: str,
    word: str,
    group: str,
    unit: str,
    rows: list[Row],
    values: Sequence[float | None],
    x: str,
) -> Iterator[Curve]:
    """The curve, unless no value is a number."""
    points = [
        (row.seconds if x == "seconds" else float(row.iteration), value)
        for row, value in zip(rows, values, strict=True)
        if value is not None and math.isfinite(value)
    ]
    if points:
        xs, ys = map(list, zip(*points, strict=True))
        yield Curve(label, word, group, unit, xs, ys)


def charted(
    paths: Sequence[str], words: Sequence[str] = GROUPS, x: str = "iterations"
) -> dict[str, list[Curve]]:
    """For each file, under a short name, the curves to draw.

    Raises:
        PlotError: a word selects nothing in any of them.
    """
    runs = [read_run(path) for path in paths]
    known = sorted({c.word for run in runs for c in curves(run, x) if c.word} | set(GROUPS))
    for word in words:
        if word not in known:
            raise PlotError(
                f"there is no {word!r} to draw, but {', '.join(known)}{did_you_mean(word, known)}"
            )
    found = {
        name: select(run, words, x) for name, run in zip(short_names(paths), runs, strict=True)
    }
    if not any(found.values()):
        raise PlotError(f"{', '.join(paths)}: no finite number of {' or '.join(words)} to draw")
    _choose_axes([curve for chosen in found.values() for curve in chosen])
    return found


def _choose_axes(found: Sequence[Curve]) -> None:
    """Losses, or else the learning rate, to the left and the others to the right of them."""
    units = {curve.unit for curve in found}
    left = next((unit for unit in (LOSS, RATE) if unit in units), None)
    for curve in found:
        curve.right = left is not None and curve.unit != left


def short_names(paths: Sequence[str]) -> list[str]:
    """File names without their endings, with as much of the folders as tells them apart."""
    parts = [Path(path).absolute().with_suffix("").parts for path in paths]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(p[-count:]) for p in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path} ({i})" for i, path in enumerate(paths, 1)]  # the same file twice


# -- a picture -------------------------------------------------------------------------------------

# Okabe and Ito's colours: told apart also by people who see no red or no green.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
PALE, GREY = "#e4e4e4", "#666666"
MANY = 200  # points; with more, noise hides the curve


def draw(runs: dict[str, list[Curve]], path: str, x: str = "iterations") -> None:
    """Draw a chart into ``path``; its ending says as what: .png, .pdf, .svg.

    A single run has a colour for each curve; of several, each has its colour and curves differ in
    their strokes.

    Raises:
        MissingPartError: matplotlib is not installed.
        PlotError: it cannot draw into such a file.
    """
    matplotlib = require("matplotlib.figure", "plot", "Drawing a chart")
    figure = matplotlib.Figure(figsize=(9, 5), dpi=130, layout="constrained")
    kind = Path(path).suffix[1:].lower() or "png"
    kinds = figure.canvas.get_supported_filetypes()
    if kind not in kinds:
        raise PlotError(f"{path}: cannot draw a .{kind}; use one of {', '.join(sorted(kinds))}")
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


def by_axis(runs: dict[str, list[Curve]]) -> tuple[list[Curve], list[Curve]]:
    found = [curve for run in runs.values() for curve in run]
    return [c for c in found if not c.right], [c for c in found if c.right]


def _look(label: str, colour: int, style: int) -> dict[str, Any]:
    return {
        "color": COLOURS[colour % len(COLOURS)],
        "linestyle": STYLES[style % len(STYLES)],
        "linewidth": 1.5,
        "marker": "o" if label.startswith("test") else "",
        "markersize": 3.5,
    }


def _line(axes: Any, curve: Curve, look: dict[str, Any]) -> None:
    """A curve; of many points, a pale one behind its moving mean, unless it is no noise."""
    y = curve.y
    if len(y) == 1:
        look = look | {"marker": "o"}
    if len(y) > MANY and curve.unit != RATE:
        axes.plot(curve.x, y, color=look["color"], linewidth=0.8, alpha=0.25)
        y, look = moving_mean(y, len(y) // 100), look | {"marker": ""}
    axes.plot(curve.x, y, **look)


def moving_mean(values: Sequence[float], reach: int) -> list[float]:
    """The mean of each value and its neighbours, up to ``reach`` on either side."""
    sums = [0.0, *itertools.accumulate(values)]
    windows = ((max(i - reach, 0), min(i + reach + 1, len(values))) for i in range(len(values)))
    return [(sums[end] - sums[begin]) / (end - begin) for begin, end in windows]


def _legend(figure: Any, axes: Any, names: list[str], looks: list[Any], where: str) -> None:
    lines = [axes.plot([], [], **look)[0] for look in looks]
    columns = min(len(names), 4)
    figure.legend(lines, names, loc=f"outside {where} center", ncols=columns, frameon=False)


def _dress(axes: Any, found: Sequence[Curve]) -> None:
    """Title, range and grid of an axis."""
    units = list(dict.fromkeys(c.unit for c in found))
    axes.set_ylabel(", ".join(units) if len(units) <= 3 else "outputs")
    low, high = min(min(c.y) for c in found), max(max(c.y) for c in found)
    if units == [LOSS] and low >= 0:
        axes.set_ylim(bottom=0)
    elif low >= 0 and 0.5 < high <= 1:  # what can at most be 1 is seen best against it
        axes.set_ylim(top=1)
    axes.grid(True, color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["top"].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    axes.tick_params(length=3, color=GREY)


# -- characters ------------------------------------------------------------------------------------

MARKS = ".o*x+#%@"


def chart(
    runs: dict[str, list[Curve]], width: int = 80, height: int = 24, x: str = "iterations"
) -> list[str]:
    """Lines of plain characters, at most ``width`` by ``height``, with the same two axes."""
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
    left = _ticks(up[False], rows)
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


def _ticks(limits: tuple[float, float], rows: int) -> list[str]:
    """What stands beside each row, from the top down: a number at about every fourth."""
    low, high = limits
    count = max((rows - 1) // 4, 1)
    numbered = {round(i * (rows - 1) / count) for i in range(count + 1)}
    step = (high - low) / (rows - 1)
    return [f"{high - step * row:.4g}" if row in numbered else "" for row in range(rows)]


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
