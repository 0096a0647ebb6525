"""The choice between implementations is measured on the real shapes, and remembered on disk."""

from __future__ import annotations

import atexit
import json
import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pycaffe_dist.engines.onednn.library import OneDnnError
from pycaffe_dist.files import atomic_write

T = TypeVar("T")
BUDGET = 30.0  # seconds that a process spends on measuring; then the most promising is taken
LEAST, MOST, ENOUGH = 2, 12, 0.03  # runs of a candidate, and seconds after which they suffice
HOPELESS = 2.0  # times the best so far: after one such run a candidate is given up


@dataclass
class Candidate(Generic[T]):
    """One way to compute something: made by ``build``, run on made-up values by ``trial``.

    ``handicap`` multiplies its time: what it costs others is not in the trial.  One that is
    ``promising`` is tried before the others, which then are sooner given up.
    """

    name: str
    build: Callable[[], T]
    trial: Callable[[T], Callable[[], object]]
    handicap: float = 1.0
    promising: bool = False


class Choices:
    """What was found fastest, by case; if not ``measuring``, always the first candidate."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.measuring = True
        self.spent = 0.0
        self._found: dict[str, str] = {}
        self._loaded = False
        self._new: dict[str, str] = {}

    def pick(self, case: str, candidates: Sequence[Candidate[T]]) -> T:
        """The fastest candidate for a case, built.  Those that oneDNN refuses are left out."""
        if not self.measuring or len(candidates) == 1:
            return _first(candidates)
        self._load()
        known = self._found.get(case)
        for candidate in candidates:
            if candidate.name == known:
                return candidate.build()
        hopes = sorted(candidates, key=lambda candidate: not candidate.promising)
        if self.spent > BUDGET:
            return _first(hopes)
        return self._measure(case, hopes)

    def _measure(self, case: str, candidates: Sequence[Candidate[T]]) -> T:
        begin = time.perf_counter()
        best: tuple[float, str, T] | None = None
        for candidate in candidates:
            try:
                built = candidate.build()
                trial = candidate.trial(built)
                seconds = _seconds(trial, best[0] if best else None) * candidate.handicap
            except (OneDnnError, MemoryError):
                continue
            if best is None or seconds < best[0]:
                best = seconds, candidate.name, built
        self.spent += time.perf_counter() - begin
        if best is None:
            raise OneDnnError(f"no implementation for {case}")
        self._found[case] = self._new[case] = best[1]
        return best[2]

    # -- on disk -----------------------------------------------------------------------------

    def _load(self) -> None:
        if not self._loaded:
            self._loaded = True
            self._found = self._read()
            atexit.register(self.save)

    def _read(self) -> dict[str, str]:
        try:
            read = json.loads(self.path.read_text()) if self.path else {}
        except (OSError, ValueError):
            return {}
        return {str(k): str(v) for k, v in read.items()} if isinstance(read, dict) else {}

    def save(self) -> None:
        """Add what is new to the file; a cache that cannot be written is not an error."""
        if not self._new or self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(self._read() | self._new, indent=0, sort_keys=True)
            with atomic_write(self.path) as file:
                file.write(text.encode())
        except OSError:
            pass
        self._new.clear()


def _first(candidates: Sequence[Candidate[T]]) -> T:
    for candidate in candidates:
        try:
            return candidate.build()
        except OneDnnError:
            continue
    raise OneDnnError("no implementation")


def _seconds(trial: Callable[[], object], limit: float | None) -> float:
    """Of the best of some runs, of more if they are short; a candidate far behind gets one."""
    times: list[float] = []
    while len(times) < LEAST or (len(times) < MOST and sum(times) < ENOUGH):
        begin = time.perf_counter()
        trial()
        times.append(time.perf_counter() - begin)
        if limit is not None and times[0] > max(HOPELESS * limit, ENOUGH):
            break
    return min(times)


def cache_file(release: str) -> Path | None:
    """Where this machine's choices are kept; PCD_CACHE names another folder, empty is none."""
    folder = os.environ.get("PCD_CACHE")
    if folder == "":
        return None
    root = Path(folder) if folder else Path.home() / ".cache" / "pycaffe_dist"
    return root / f"onednn-{release}-{_cpu()}.json"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    fields = dict(re.findall(r"^([^\t:]+)\s*: (.*)$", text.split("\n\n")[0], re.MULTILINE))
    names = ("model name", "cpu family", "model", "stepping")
    name = "-".join(fields[n] for n in names if n in fields) or platform.processor()
    return re.sub(r"\W+", "_", name) or "cpu"
