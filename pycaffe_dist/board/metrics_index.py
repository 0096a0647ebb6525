"""What a metrics.jsonl says, read once and then only where it grows.

A file of ten million lines takes minutes to read; so that a page can be drawn at once, ``sample``
reads some lines all over it.  Until the file is read to its end, curves are marked as a preview.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.series import Series
from pycaffe_dist.files import open_regular

CHUNK = 1 << 18
BLOCK, BLOCKS = 1 << 12, 96  # of a sample: bytes, and how many at most
MOST_SERIES = 200  # names come from a file
MARKS = 4096  # places in the file whose iterations are known, to find the way for a zoom
FINEST = 64 << 20  # bytes that are read again for a zoom


class MetricsIndex:
    """The curves and facts of a metrics file.

    Attributes:
        series: by name: "train loss", "lr", "train NAME", "test NAME", "test1 NAME".
        facts: the last object of each kind that is not a point: begin, end, snapshot.
        iteration, seconds: of the last line; the seconds count from the last begin.
        done: how many bytes were read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.forget()

    def forget(self) -> None:
        self.series: dict[str, Series] = {}
        self.facts: dict[str, Facts] = {}
        self.iteration, self.seconds, self.began = 0, 0.0, 0
        self.done, self.size, self.previewed = 0, 0, False
        self.marks: list[tuple[float, int]] = []
        self._every = 1  # how many chunks there are between two marks

    @property
    def behind(self) -> int:
        """Bytes that are not read yet."""
        return max(self.size - self.done, 0)

    def measure(self) -> int:
        """Look how long the file is; a shorter one is another."""
        try:
            self.size = os.stat(self.path).st_size
        except OSError:
            self.size = 0
        if self.size < self.done:
            size = self.size
            self.forget()
            self.size = size
        return self.behind

    def read_more(self) -> bool:
        """Read the next chunk, whole lines only; False if there was none."""
        if not self.measure():
            return False
        with open_regular(self.path, "rb") as file:
            file.seek(self.done)
            data = file.read(CHUNK)
            while data and b"\n" not in data[-CHUNK:] and len(data) < FINEST:
                more = file.read(CHUNK)
                if not more:
                    break
                data += more
        end = data.rfind(b"\n") + 1
        if not end:
            return False
        if self.previewed:  # what was sampled gives way to what is read
            size = self.size
            self.forget()
            self.size = size
            return self.read_more()
        self._mark()
        self.done += end
        self.take(parsed(data[:end]))
        return True

    def sample(self, blocks: int = BLOCKS) -> None:
        """Draw lines from all over a long file, and the last ones, as a preview."""
        if self.done or self.previewed or self.measure() <= BLOCK * BLOCKS:
            return
        rows: list[Facts] = []
        with open_regular(self.path, "rb") as file:
            for i in range(blocks + 1):
                at = (self.size - BLOCK) * i // blocks
                file.seek(at)
                lines = file.read(BLOCK)
                lines = lines[lines.find(b"\n") + 1 if at else 0 : lines.rfind(b"\n") + 1]
                rows += parsed(lines)
        self.take(rows)
        self.previewed = True

    def _mark(self) -> None:
        if self.done // CHUNK % self._every == 0:
            self.marks.append((float(self.iteration), self.done))
        if len(self.marks) > MARKS:
            self.marks, self._every = self.marks[::2], self._every * 2

    # -- what it says ------------------------------------------------------------------------

    def take(self, rows: Sequence[Facts]) -> None:
        found: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        for row in rows:
            try:
                self._row(row, found)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                continue  # a line of something else
        self._put(found)

    def _row(self, row: Facts, found: dict[str, tuple[list[float], list[float]]]) -> None:
        kind, iteration = row["kind"], int(row["iteration"])
        if kind == "begin":
            self._put(found)
            for series in self.series.values():
                series.cut(iteration + 1 if iteration else 0)
            self.began = iteration
            self.facts.pop("end", None)
        self.iteration, self.seconds = iteration, float(row["seconds"])
        if kind not in ("train", "test"):
            self.facts[str(kind)[:20]] = row
            return
        losses = row.get("loss_weights", {})
        for name, value in _points(row):
            if name not in self.series:
                if len(self.series) >= MOST_SERIES:
                    continue
                bare = name.partition(" ")[2]
                self.series[name] = Series(bare in losses or bare == "loss" or "total" in bare)
            xs, ys = found[name]
            xs.append(iteration)
            ys.append(value)

    def _put(self, found: dict[str, tuple[list[float], list[float]]]) -> None:
        for name, (xs, ys) in found.items():
            self.series[name].extend(xs, ys)
        found.clear()

    # -- zoomed in ---------------------------------------------------------------------------

    def closer(self, name: str, begin: float, end: float) -> Series | None:
        """A series between two iterations, from the file's own lines; None if they are too many."""
        series = self.series.get(name)
        if series is None or series.size == 1 or self.previewed:
            return None
        first = max((at for x, at in self.marks if x < begin), default=0)
        last = min((at for x, at in self.marks if x > end), default=self.done)
        if not 0 < last - first <= FINEST:
            return None
        part = MetricsIndex(self.path)
        with open_regular(self.path, "rb") as file:
            file.seek(first)
            while (here := file.tell()) < last:
                data = file.read(min(CHUNK, last - here))
                whole = data.rfind(b"\n") + 1
                if not whole:
                    break
                file.seek(here + whole)
                rows = parsed(data[:whole])
                part.take([r for r in rows if _within(r, begin, end)])
        return part.series.get(name)


def _within(row: Facts, begin: float, end: float) -> bool:
    at = row.get("iteration")
    return isinstance(at, int) and begin <= at <= end and row.get("kind") in ("train", "test")


def _points(row: Facts) -> list[tuple[str, float]]:
    """The values of a row, by the names of their curves."""
    net = row.get("net") or 0
    where = "train" if row["kind"] == "train" else f"test{net}" if net else "test"
    found = []
    if row.get("loss") is not None:
        name = "train loss" if where == "train" else f"{where} total loss"
        found.append((name, float(row["loss"])))
    if row.get("lr") is not None:
        found.append(("lr", float(row["lr"])))
    for name, value in row["outputs"].items():
        label = f"{where} {name}"
        if label != "train loss":  # which is smoothed
            found.append((label, float(value)))
    return found


def parsed(data: bytes) -> list[Facts]:
    """The objects of whole lines; together, which is fast, or one by one if some are damaged."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    try:
        rows = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        rows = []
        for line in lines:
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError):
                continue
    return [row for row in rows if isinstance(row, dict)]
