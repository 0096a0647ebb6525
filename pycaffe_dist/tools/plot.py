"""Charts of one or more trainings: which curves there are, and how they are smoothed."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.report.metrics import read_metrics
from pycaffe_dist.tools.parse_log import Row, Run, read_log

GROUPS = ("loss", "accuracy")
LOSS, RATE = "loss", "learning rate"
MANY = 50  # points; with more, noise hides the curve


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
        noisy: the values as they were, where ``y`` are their means.
    """

    label: str
    word: str
    group: str
    unit: str
    x: list[float]
    y: list[float]
    right: bool = False
    noisy: list[float] | None = None


# -- reading ---------------------------------------------------------------------------------------


def log_of(path: str) -> str:
    """The log, or else the metrics file, in the folder of a run; a file is what it is.

    Raises:
        FileError: the folder has none, or several.
    """
    if not Path(path).is_dir():
        return path
    for pattern in ("train.log", "*.log", "*metrics.jsonl"):
        found = sorted(map(str, Path(path).glob(pattern)))
        if len(found) > 1:
            raise FileError(f"{path}: has several logs, name one: {', '.join(found)}")
        if found:
            return found[0]
    raise FileError(
        f"{path}: is a folder without train.log, another .log or metrics.jsonl; "
        "`pcd train --run-dir` writes them"
    )


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


def run_of_metrics(objects: Sequence[Facts]) -> Run:
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
    paths: Sequence[str],
    words: Sequence[str] = GROUPS,
    x: str = "iterations",
    smooth: int | None = None,
    log_y: bool = False,
) -> dict[str, list[Curve]]:
    """For each log or folder of a run, under a short name, the curves to draw.

    Args:
        paths: logs, metrics files, or folders that have one.
        words: see :func:`select`.
        x: "iterations" or "seconds".
        smooth: of how many points the training curves show the mean; without it, of few if they
            are many.
        log_y: whether the left axis is logarithmic, and values up to 0 are left out.

    Raises:
        PlotError: a word selects nothing in any of them, or nothing is left.
    """
    runs = [read_run(log_of(path)) for path in paths]
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
    if log_y:
        found = {name: list(_positive(chosen)) for name, chosen in found.items()}
        if not any(not curve.right for chosen in found.values() for curve in chosen):
            raise PlotError("a logarithmic axis needs numbers above 0, and there are none")
    for chosen in found.values():
        for curve in chosen:
            _smooth(curve, smooth)
    return found


def _positive(found: Sequence[Curve]) -> Iterator[Curve]:
    """Curves of the left axis without what has no logarithm."""
    for curve in found:
        points = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if curve.right or y > 0]
        if points:
            xs, ys = map(list, zip(*points, strict=True))
            yield replace(curve, x=xs, y=ys)


def _smooth(curve: Curve, points: int | None) -> None:
    """Tests are means already; a learning rate has no noise."""
    count = len(curve.y)
    reach = points // 2 if points is not None else count // MANY if count > MANY else 0
    if reach and count > 1 and curve.label.startswith("train"):
        curve.noisy, curve.y = curve.y, moving_mean(curve.y, reach)


def _choose_axes(found: Sequence[Curve]) -> None:
    """Losses, or else the learning rate, to the left and the others to the right of them."""
    units = {curve.unit for curve in found}
    left = next((unit for unit in (LOSS, RATE) if unit in units), None)
    for curve in found:
        curve.right = left is not None and curve.unit != left


def short_names(paths: Sequence[str]) -> list[str]:
    """File names without their endings, with as much of the folders as tells them apart."""
    whole = [Path(path).resolve() for path in paths]
    parts = [(path if path.is_dir() else path.with_suffix("")).parts for path in whole]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(p[-count:]) for p in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path} ({i})" for i, path in enumerate(paths, 1)]  # the same file twice


def moving_mean(values: Sequence[float], reach: int) -> list[float]:
    """The mean of each value and its neighbours, up to ``reach`` on either side."""
    sums = [0.0, *itertools.accumulate(values)]
    windows = ((max(i - reach, 0), min(i + reach + 1, len(values))) for i in range(len(values)))
    return [(sums[end] - sums[begin]) / (end - begin) for begin, end in windows]


def by_axis(runs: dict[str, list[Curve]]) -> tuple[list[Curve], list[Curve]]:
    found = [curve for run in runs.values() for curve in run]
    return [c for c in found if not c.right], [c for c in found if c.right]
