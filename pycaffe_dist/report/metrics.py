"""Training as JSON lines, an object for each event of interest, for scripts and charts.

    {"kind": "begin", "iteration": 0, "seconds": 0.0, "time": 1794787421.6, "net": "LeNet",
     "max_iter": 10000}
    {"kind": "train", "iteration": 100, "seconds": 6.8, "loss": 0.143, "lr": 0.00992565,
     "outputs": {"loss": 0.143}, "loss_weights": {"loss": 1.0}, "images_per_second": 812.5}
    {"kind": "test", "iteration": 500, "seconds": 35.2, "net": 0,
     "outputs": {"accuracy": 0.97, "loss": 0.1}, "loss_weights": {"loss": 1.0}}
    {"kind": "snapshot", "iteration": 500, "seconds": 36.1, "weights": "...", "state": "..."}
    {"kind": "end", "iteration": 10000, "seconds": 690.3, "early": false}

(Each is one line.)  ``seconds`` count from the last "begin", or from the making of the file where a
script calls ``step`` alone; ``time`` is the clock's, since 1970.  JSON has no word for what is not
a finite number: it is written as "nan", "inf" or "-inf", which Python's ``float`` reads.
"""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pycaffe_dist import events as e
from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import open_regular, read_bytes

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Metrics:
    """Subscriber that makes an object of each event of interest.

    Args:
        put: takes each, as soon as it is complete.
        batch_size: images of one iteration, all ranks together, if known.
    """

    def __init__(self, put: Callable[[Facts], object], batch_size: int = 0) -> None:
        self.batch_size = batch_size
        self._put = put
        self._begin = time.perf_counter()
        self._shown: e.Displayed | None = None  # waits for its learning rate

    def __call__(self, event: e.Event) -> None:
        write = getattr(self, f"on_{type(event).__name__}", None)
        if write is not None:
            write(event)

    def __enter__(self) -> Metrics:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits: the line of an iteration that failed after its loss was known."""
        self._train(None)

    def on_SolveBegins(self, event: e.SolveBegins) -> None:
        self._begin = time.perf_counter()
        self._write("begin", event, time=time.time(), net=event.net_name, max_iter=event.max_iter)

    def on_Displayed(self, event: e.Displayed) -> None:
        self._train(None)
        self._shown = event

    def on_RateChosen(self, event: e.RateChosen) -> None:
        self._train(event.rate)

    def _train(self, rate: float | None) -> None:
        shown, self._shown = self._shown, None
        if shown is None:
            return
        facts: Facts = {"loss": number(shown.loss)}
        facts["lr"] = None if rate is None else number(rate)
        facts |= _outputs(shown.outputs)
        if self.batch_size and shown.per_second > 0:
            facts["images_per_second"] = round(shown.per_second * self.batch_size, 3)
        self._write("train", shown, **facts)

    def on_LastLoss(self, event: e.LastLoss) -> None:
        self._write("train", event, loss=number(event.loss), lr=None, **_outputs([]))

    def on_Tested(self, event: e.Tested) -> None:
        facts = {"net": event.net, **_outputs(event.outputs)}
        if event.loss is not None:
            facts["loss"] = number(event.loss)
        self._write("test", event, **facts)

    def on_Snapshotted(self, event: e.Snapshotted) -> None:
        self._write("snapshot", event, weights=event.weights, state=event.state)

    def on_SolveEnds(self, event: e.SolveEnds) -> None:
        self.close()
        self._write("end", event, early=event.early)

    def _write(self, kind: str, event: e.Event, **facts: object) -> None:
        seconds = round(time.perf_counter() - self._begin, 3)
        self._put({"kind": kind, "iteration": event.iteration, "seconds": seconds, **facts})


class MetricsFile(Metrics):
    """Subscriber that appends to a file of JSON lines.

    Args:
        path: the file; lines that are there already, of the run before a resume, stay.
        batch_size: images of one iteration, all ranks together, if known.
    """

    def __init__(self, path: str | os.PathLike[str], batch_size: int = 0) -> None:
        append = Appender(path)
        if _is_cut(append.path):
            append(b"\n")
        super().__init__(
            lambda row: append(json.dumps(row, allow_nan=False).encode() + b"\n"), batch_size
        )


def _outputs(outputs: list[e.Output]) -> Facts:
    values = by_name((o.name, number(o.value)) for o in outputs)
    weights = by_name((o.name, number(o.loss_weight)) for o in outputs if o.loss_weight)
    return {"outputs": values, "loss_weights": weights}


def number(value: float) -> float | str:
    """What JSON can hold: the number, or "nan", "inf", "-inf"."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def by_name(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Values under their names; the further elements of a blob as ``name[1]``, ``name[2]``."""
    found: dict[str, T] = {}
    seen: Counter[str] = Counter()
    for name, value in pairs:
        found[f"{name}[{seen[name]}]" if seen[name] else name] = value
        seen[name] += 1
    return found


def read_metrics(path: str | os.PathLike[str]) -> list[Facts]:
    """The objects of a file, without lines that a crash has cut."""
    rows = []
    for line in read_bytes(path).decode(errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and "kind" in row:
            rows.append(row)
    return rows


def _is_cut(path: Path) -> bool:
    """Whether a kill has cut the last line."""
    with open_regular(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        return file.read() not in (b"", b"\n")


class Appender:
    """Adds whole records to a file.  A full disk costs records and one warning, not the training.

    The file is opened for each record: they are rare, and nothing is left to flush or close.

    Raises:
        FileError: from the start on, the file cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._warned = False
        open_regular(path, "ab").close()

    def __call__(self, record: bytes) -> None:
        try:
            with open_regular(self.path, "ab", buffering=0) as file:
                before = file.tell()
                if file.write(record) != len(record):
                    file.truncate(before)  # half a record would spoil those behind it
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except (FileError, OSError) as error:
            if not self._warned:
                text = "%s: cannot be written: %s; training continues, records are missing"
                logger.warning(text, self.path, getattr(error, "strerror", None) or error)
            self._warned = True
