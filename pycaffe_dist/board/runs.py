"""The runs below some folders: which there are, and what each one's files say of it."""

from __future__ import annotations

import math
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.metrics_index import MetricsIndex
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.series import Series
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.tools.run_folder import COMMANDS, LOG, METRICS

MOST_RUNS = 2000
DEEPEST = 4  # folders below the one that was given
RECENT = 60.0  # seconds since a run wrote, after which one without a lock counts as dead
LONGEST_LOG = 256 << 20  # bytes of a log of Caffe's
PLAIN = re.compile(r"^(\w+): (.*)$", re.M)  # a field of a solver that is no message
FAILURE = re.compile(r"^(?:[EF]\d{4,8} [\d:.]+ +\d+ \S+\] |pcd [a-z]+: )(.+)$", re.M)
TAIL = 1 << 14


@dataclass
class Run:
    """One run: the folder that ``--run-dir`` made, a metrics file alone, or a log of Caffe's."""

    name: str
    path: Path  # of the metrics file or the log
    folder: Path | None  # of the run, if it has one of its own
    index: MetricsIndex
    places: Places
    is_log: bool = False
    _stamp: float = field(default=-1.0)

    # -- reading -------------------------------------------------------------------------------

    def read_more(self) -> bool:
        """Take in what is new, a piece of it; whether there was anything."""
        return self._read_log() if self.is_log else self.index.read_more()

    def _read_log(self) -> bool:
        """A log is read whole when it has changed."""
        from pycaffe_dist.tools.parse_log import read_log

        try:
            facts = os.stat(self.path)
            if facts.st_mtime == self._stamp or facts.st_size > LONGEST_LOG:
                return False
            self._stamp = facts.st_mtime
            told = read_log(self.path)
        except (OSError, PcdError):
            return False
        index = self.index
        index.forget()
        index.size = index.done = facts.st_size
        for where, rows in (("train", told.train), ("test", told.test)):
            for row in rows:
                said: Facts = {"kind": where, "iteration": row.iteration}
                said |= {"seconds": row.seconds, "net": row.net, "outputs": row.outputs}
                said |= {"loss_weights": dict.fromkeys(row.losses, 1)}
                said["loss"] = row.loss
                said["lr"] = None if math.isnan(row.rate) else row.rate
                index.take([said])
        return True

    # -- what it is ------------------------------------------------------------------------------

    @cached_property
    def settings(self) -> dict[str, str]:
        """The solver's plain fields, as written."""
        text = self.text("solver.prototxt")
        rows = dict(PLAIN.findall(text))
        for name in ("snapshot_prefix", "test_iter", "net", "train_net", "debug_info"):
            rows.pop(name, None)
        return {name: value.strip('"') for name, value in rows.items()}

    def file(self, name: str) -> Path:
        """A file of the run's folder.

        Raises:
            FileError: it has none, or it is a link that leads out of the board's folders.
        """
        if self.folder is None or not (self.folder / name).is_file():
            raise FileError(f"{self.name}: has no {name}; `pcd train --run-dir` writes it")
        return self.places.inside(self.folder / name)

    def text(self, name: str) -> str:
        """The text of such a file; "" if there is none."""
        with suppress(FileError):
            return read_bytes(self.file(name), 4 << 20).decode(errors="replace")
        return ""

    @property
    def max_iter(self) -> int:
        told = self.index.facts.get("begin", {}).get("max_iter") or self.settings.get("max_iter")
        try:
            return int(told or 0)
        except (TypeError, ValueError):
            return 0

    def state(self) -> tuple[str, str]:
        """running, done, stopped or failed, and why."""
        end = self.index.facts.get("end")
        if end is not None:
            return ("stopped", "before its last iteration") if end.get("early") else ("done", "")
        if self.is_log:
            return self._state_by_log()
        if self.process() is not None:
            return "running", ""
        with suppress(OSError):
            if time.time() - os.stat(self.path).st_mtime < RECENT:
                return "running", ""
        why = self.last_failure()
        return "failed", why or "it ended without a word: killed, or the machine went down"

    def _state_by_log(self) -> tuple[str, str]:
        tail = self._tail(self.path)
        if "Optimization Done." in tail:
            return "done", ""
        with suppress(OSError):
            if time.time() - os.stat(self.path).st_mtime < RECENT:
                return "running", ""
        found = FAILURE.findall(tail)
        return ("failed", found[-1]) if found else ("stopped", "the log ends before its end")

    def last_failure(self) -> str:
        """The last error in the log."""
        if self.folder is None:
            return ""
        found = FAILURE.findall(self._tail(self.folder / LOG))
        found += FAILURE.findall(self._tail(self.folder / "board.log"))
        return found[-1][:500] if found else ""

    @staticmethod
    def _tail(path: Path) -> str:
        try:
            with open(path, "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(size - TAIL, 0))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def process(self) -> int | None:
        """The process that trains: it holds the lock of the snapshots' prefix."""
        if self.folder is None:
            return None
        for lock in self.folder.glob(".*.lock"):
            with suppress(OSError):
                number = os.stat(lock).st_ino
                for line in Path("/proc/locks").read_text().splitlines():
                    words = line.split()
                    if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(f":{number}"):
                        return int(words[4])
        return None

    def summary(self) -> Facts:
        """A row of the table of runs."""
        state, why = self.state()
        index, most = self.index, self.max_iter
        rate = (index.iteration - index.began) / index.seconds if index.seconds > 0 else 0.0
        left = (most - index.iteration) / rate if rate > 0 and most > index.iteration else None
        return {
            "name": self.name,
            "state": state,
            "why": why,
            "iteration": index.iteration,
            "max_iter": most,
            "seconds": round(index.seconds, 1),
            "eta": round(left, 1) if left is not None and state == "running" else None,
            "best": self.best(),
            "settings": self.settings,
            "net": str(index.facts.get("begin", {}).get("net", "")),
            "preview": index.previewed,
            "behind": index.behind,
            "log": self.is_log,
            "updated": self._updated(),
        }

    def _updated(self) -> float:
        with suppress(OSError):
            return os.stat(self.path).st_mtime
        return 0.0

    def best(self) -> Facts | None:
        """The best of the first score of a test, or else of its loss, or of the training's."""
        tests = [n for n in self.index.series if n.startswith("test")]
        scores = [n for n in tests if not self.index.series[n].is_loss]
        for name in (*scores, *tests, "train loss"):
            series: Series | None = self.index.series.get(name)
            if series is not None and (found := series.best):
                return {"name": name, "iteration": int(found[0]), "value": float(f"{found[1]:.7g}")}
        return None


class Runs:
    """All runs of the folders that were given, by name."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.by_name: dict[str, Run] = {}

    def find(self) -> None:
        """Look for runs; those that are known stay as they are."""
        found: dict[str, Run] = {}
        for root in self.places.roots:
            for name, path, folder, is_log in self._below(root):
                while name in found:
                    name += "'"
                known = self.by_name.get(name)
                if known is None or known.path != path:
                    known = Run(name, path, folder, MetricsIndex(str(path)), self.places, is_log)
                    known.index.measure()
                found[name] = known
                if len(found) >= MOST_RUNS:
                    break
        self.by_name = found

    def _below(self, root: Path) -> list[tuple[str, Path, Path | None, bool]]:
        if root.is_file():
            metrics = root.name.endswith(METRICS)
            return [(root.name, root, None, not metrics)]
        found: list[tuple[str, Path, Path | None, bool]] = []
        for top, folders, files in os.walk(root):
            here = Path(top)
            depth = len(here.relative_to(root).parts)
            folders[:] = sorted(f for f in folders if not f.startswith(".") and depth < DEEPEST)
            base = here.relative_to(root).as_posix() if here != root else root.resolve().name
            if METRICS in files:
                found.append((base, here / METRICS, here, False))
                continue
            for file in sorted(files):
                name = file if here == root else f"{base}/{file}"
                if file.endswith(f".{METRICS}"):
                    found.append((name.removesuffix(f".{METRICS}"), here / file, None, False))
                elif file.endswith(".log") or re.match(r"caffe\..*\.INFO", file):
                    found.append((name, here / file, None, True))
        return found

    def get(self, name: str) -> Run:
        """A run by its name.

        Raises:
            FileError: there is none; names are never taken for paths.
        """
        if name not in self.by_name:
            raise FileError(f"there is no run {name!r}")
        return self.by_name[name]

    def parents(self) -> dict[str, str]:
        """The run whose weights or snapshot another began with, by the command that started it."""
        found = {}
        folders = {str(r.folder.resolve()): n for n, r in self.by_name.items() if r.folder}
        for name, run in self.by_name.items():
            for word in re.findall(r"[\w./ -]+\.(?:caffemodel|solverstate)", run.text(COMMANDS)):
                parent = folders.get(str(Path(word.split()[-1]).resolve().parent))
                if parent and parent != name:
                    found[name] = parent
        return found
