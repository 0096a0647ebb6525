"""What ``pcd sweep`` does: a run for each combination of settings, some at a time, and a table."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.files import make_folder
from pycaffe_dist.report.table import table
from pycaffe_dist.tools.ordered_map import usable_cores
from pycaffe_dist.tools.plot import lasting, read_run
from pycaffe_dist.tools.run_folder import METRICS

OUTPUT = "sweep.log"  # what a run printed, in its folder


@dataclass
class Trial:
    """One combination of settings and what came of it."""

    settings: dict[str, str]
    folder: str
    code: int = 0
    why: str = ""
    loss: float = math.nan  # the last of training
    scores: dict[str, tuple[float, int]] = field(default_factory=dict)  # the best, and where

    @property
    def metrics(self) -> str:
        return f"{self.folder}/{METRICS}"

    @property
    def has_numbers(self) -> bool:
        """Whether it has displayed a loss or tested."""
        return bool(self.scores) or not math.isnan(self.loss)


def trials(settings: Sequence[str], folder: str) -> list[Trial]:
    """Every combination of ``FIELD=VALUE,VALUE`` settings, the last one changing fastest.

    Raises:
        NetError: a setting is none, or comes twice.
    """
    names, values = [], []
    for setting in settings:
        name, equals, rest = setting.partition("=")
        found = [value for value in rest.split(",") if value]
        if not name or not equals or not found:
            raise NetError(f"--set {setting}: write FIELD=VALUE,VALUE, as base_lr=0.1,0.01")
        if name in names:
            raise NetError(f"--set {name} is given twice: write all its values behind one")
        names.append(name)
        values.append(found)
    made = []
    for chosen in itertools.product(*values):
        pairs = dict(zip(names, chosen, strict=True))
        name = "_".join(f"{n}={v}" for n, v in pairs.items()).replace("/", "-")
        made.append(Trial(pairs, f"{folder}/{name or 'run'}"))
    return made


def sweep(solver: str, found: list[Trial], jobs: int, flags: Sequence[str]) -> Iterator[Trial]:
    """Train all, ``jobs`` at a time, each in a process with its share of the cores."""
    threads = max(1, usable_cores() // jobs)

    def run(trial: Trial) -> Trial:
        words = ["train", "--solver", solver, "--run-dir", trial.folder, "--resume", "auto"]
        words += ["--threads", str(threads), *flags]
        for name, value in trial.settings.items():
            words += ["--set", f"{name}={value}"]
        make_folder(trial.folder)
        with open(Path(trial.folder) / OUTPUT, "wb") as log:
            command = [sys.executable, "-m", "pycaffe_dist", *words]
            trial.code = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
        if trial.code:
            trial.why = _last_line(Path(trial.folder) / OUTPUT)
        measure(trial)
        return trial

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(run, found)


def _last_line(path: Path) -> str:
    lines = path.read_bytes().decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


def measure(trial: Trial) -> None:
    """The last loss of training and the best of each score, of what the run has written."""
    if not os.path.exists(trial.metrics):
        return
    try:
        told = read_run(trial.metrics)
    except PcdError:  # it has ended before its first line
        return
    losses = [row.loss for row in lasting(told.train) if row.loss is not None]
    trial.loss = losses[-1] if losses else math.nan
    for row in lasting(told.test):
        for name, value in row.outputs.items():
            before = trial.scores.get(name)
            sign = -1 if name in row.losses else 1
            if before is None or sign * value > sign * before[0]:
                trial.scores[name] = value, row.iteration


def ranked(found: Sequence[Trial]) -> list[Trial]:
    """The best first, by the first score that is no loss, or else by the loss of training."""
    name = next((n for t in found for n in t.scores if "loss" not in n), "")

    def key(trial: Trial) -> tuple[bool, float]:
        value = -trial.scores[name][0] if name in trial.scores else trial.loss
        return bool(trial.code), math.inf if math.isnan(value) else value

    return sorted(found, key=key)


def as_lines(found: Sequence[Trial]) -> list[str]:
    names = list(found[0].settings)
    scores = list(dict.fromkeys(n for t in found for n in t.scores))
    rows = []
    for trial in ranked(found):
        best = [trial.scores.get(name) for name in scores]
        rows.append(
            (
                *(trial.settings[name] for name in names),
                *("" if b is None else f"{b[0]:.5g} at {b[1]}" for b in best),
                "" if math.isnan(trial.loss) else f"{trial.loss:.5g}",
                f"failed: {trial.why}" if trial.code else "",
            )
        )
    return table((*names, *scores, "last loss", ""), rows, left=len(names))
