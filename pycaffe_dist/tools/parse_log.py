"""Logs of a training, Caffe's or ours, as rows of numbers, and as parse_log.py's two tables.

Unlike in Caffe's script, ``nan`` and ``inf`` are numbers; a table may have one row; the
learning rate of a train row is that of its own iteration, not of the one shown before; several test
nets stand side by side (``accuracy``, ``test1/accuracy``), and so do the elements of an output
(``recall``, ``recall[1]``), where the script keeps the last.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, read_bytes

# Newer versions of glog write the year.  mpirun and others may put their own words in front.
LINE = re.compile(
    r"[IWEF](2\d{3})?(0[1-9]|1[0-2])(\d\d) (\d\d):(\d\d):(\d\d)\.(\d+) +\d+ [^\]]+\] (.*)"
)
NUMBER = r"([-+.#\w]+)"
SHOWN = re.compile(rf"Iteration (\d+)\b.*\bloss = {NUMBER}")
RATE = re.compile(rf"Iteration (\d+)\b.*\blr = {NUMBER}")
TESTING = re.compile(r"Iteration (\d+), Testing net \(#(\d+)\)")
TEST_LOSS = re.compile(rf"Test loss: {NUMBER}")
OUTPUT = re.compile(
    rf"(Train|Test) net output #(\d+): (.+) = {NUMBER}(?P<weighted> \(\* \S+ = \S+ loss\))?\s*$"
)


@dataclass
class Row:
    """An iteration that was shown, or the test of a net at an iteration.

    Attributes:
        seconds: since solving began.
        rate: the learning rate; nan if the log does not say.
        loss: the smoothed loss (train), or that of test_compute_loss.
        losses: the names of those outputs that count as loss.
        net: which test net.
    """

    iteration: int
    seconds: float
    rate: float = math.nan
    loss: float | None = None
    outputs: dict[str, float] = field(default_factory=dict)
    losses: set[str] = field(default_factory=set)
    net: int = 0


@dataclass
class Run:
    """What a log tells, in its order: after a resume, iterations may come twice."""

    train: list[Row] = field(default_factory=list)
    test: list[Row] = field(default_factory=list)


def read_log(path: str | os.PathLike[str]) -> Run:
    """Parse a log file.

    Raises:
        FileError: it cannot be read, or tells of no training.
    """
    lines = read_bytes(path).decode(errors="replace").splitlines()
    run = parse_lines(lines, datetime.fromtimestamp(os.path.getmtime(path)).year)
    if not run.train and not run.test:
        raise FileError(
            f'{path}: tells of no training: it has no line "Iteration N, loss = ..." and none '
            '"Iteration N, Testing net". Give the log of pcd train or caffe train, with display on.'
        )
    return run


def parse_lines(lines: Iterable[str], year: int = 2000) -> Run:
    """Parse a log; ``year`` is the one it begins in, if its lines do not say."""
    parser = _Parser(_Clock(year))
    for line in lines:
        if match := LINE.search(line):
            parser.read(match)
    return parser.finish()


def number(text: str) -> float:
    """A number as C++ prints it, Windows' ``1.#INF`` and ``-1.#IND`` included."""
    try:
        return float(text)
    except ValueError:
        if "#INF" in text:
            return -math.inf if text.startswith("-") else math.inf
        return math.nan


class _Clock:
    """Reads the time of a line.  Without a year, a month before the last one is the next year's."""

    def __init__(self, year: int) -> None:
        self._year, self._month = year, 1

    def read(self, match: re.Match[str]) -> datetime:
        year, (month, day, hour, minute, second) = match[1], map(int, match.group(2, 3, 4, 5, 6))
        self._year = int(year) if year else self._year + (month < self._month)
        self._month = month
        # Added up and not built, as a wrong guess at the year must not make February 29 an error.
        time = timedelta(day - 1, float(f"{second}.{match[7]}"), minutes=minute, hours=hour)
        return datetime(self._year, month, 1) + time


class _Parser:
    def __init__(self, clock: _Clock) -> None:
        self._clock = clock
        self._run = Run()
        self._first: datetime | None = None
        self._zero = 0.0
        self._solving = False
        self._rated, self._rate = -1, math.nan  # the last rate, and of which iteration it is
        self._begins: dict[str, int] = {}  # where each output's elements begin, in this row

    def read(self, line: re.Match[str]) -> None:
        time, text = self._clock.read(line), line[8]
        self._first = self._first or time
        now = (time - self._first).total_seconds()
        if match := OUTPUT.search(text):
            self._output(match, now)
        elif match := TESTING.search(text):
            row = Row(int(match[1]), now, self._rate, net=int(match[2]))
            self._add(self._run.test, row)
        elif match := SHOWN.search(text):
            # Caffe before 1.0 told the rate first.
            rate = self._rate if self._rated == int(match[1]) else math.nan
            self._add(self._run.train, Row(int(match[1]), now, rate, number(match[2])))
        elif match := RATE.search(text):
            self._rated, self._rate = int(match[1]), number(match[2])
            if self._run.train and self._run.train[-1].iteration == self._rated:
                self._run.train[-1].rate = self._rate
        elif (match := TEST_LOSS.search(text)) and self._run.test:
            self._run.test[-1].loss = number(match[1])
        elif text.startswith("Solving ") and not self._solving:
            self._zero, self._solving = now, True

    def _add(self, rows: list[Row], row: Row) -> None:
        rows.append(row)
        self._begins.clear()

    def _output(self, match: re.Match[str], now: float) -> None:
        rows = self._run.train if match[1] == "Train" else self._run.test
        if not rows:  # the log's beginning is missing
            return
        row, index, name = rows[-1], int(match[2]), match[3]
        if not row.outputs:
            row.seconds = now
        element = index - self._begins.setdefault(name, index)
        name = f"{name}[{element}]" if element else name
        row.outputs[name] = number(match[4])
        if match["weighted"]:
            row.losses.add(name)

    def finish(self) -> Run:
        rates = [row.rate for row in self._run.train if not math.isnan(row.rate)]
        for row in self._run.test:  # the first test comes before the first rate
            if math.isnan(row.rate) and rates:
                row.rate = rates[0]
        for row in self._run.train + self._run.test:
            row.seconds = round(row.seconds - self._zero, 6)
        # A test that was interrupted, or whose lines were not kept, has nothing to tell.
        self._run.test = [row for row in self._run.test if row.outputs or row.loss is not None]
        return self._run


# -- tables ----------------------------------------------------------------------------------------


def table(rows: Iterable[Row]) -> list[dict[str, float]]:
    """Rows under parse_log.py's names: NumIters, Seconds, LearningRate and the outputs."""
    found: list[dict[str, float]] = []
    for row in rows:
        if not row.outputs:
            continue
        if not (row.net and found and found[-1]["NumIters"] == row.iteration):
            numbers = float(row.iteration), row.seconds, row.rate
            found.append(dict(zip(("NumIters", "Seconds", "LearningRate"), numbers, strict=True)))
        before = f"test{row.net}/" if row.net else ""
        found[-1] |= {before + name: value for name, value in row.outputs.items()}
    return found


def write_tables(
    run: Run, log: str | os.PathLike[str], folder: str | os.PathLike[str], delimiter: str = ","
) -> list[str]:
    """Write ``<log>.train`` and ``<log>.test`` into ``folder``; the files, without empty ones."""
    written = []
    stem = os.path.join(folder, os.path.basename(log))
    for path, rows in ((f"{stem}.train", table(run.train)), (f"{stem}.test", table(run.test))):
        if rows:
            _write_csv(path, rows, delimiter)
            written.append(path)
    return written


def _write_csv(path: str, rows: list[dict[str, float]], delimiter: str) -> None:
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(columns), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
