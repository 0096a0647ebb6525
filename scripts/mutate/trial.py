"""Copies of the repository, and tests that run in them with and without a change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import blocks
import calls
from forks import Forks
from near import LEFT_OUT
from places import Change

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
QUICK = "not cupy-emulated"
SLACK, TIMES = 20, 4  # a run may take so many seconds more, and so many times, what was noted
Result = tuple[str, str]
Stage = tuple[Sequence[str], float]


@dataclass
class Verdict:
    """Of a change: caught, hung (also caught), survived, or uncalled; and by which test."""

    change: Change
    word: str
    ran: int = 0
    test: str = ""


class Copy:
    """The files of the repository, as they are now, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "main"
        listed = subprocess.check_output(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, text=True
        )
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        for target, name in ((ROOT / ".venv", self.root / ".venv"), (_shared(), folder / "shared")):
            if target.exists():
                name.symlink_to(target.resolve())
        self._folder = folder
        self._original = folder / "original.py"
        self._clock = 0

    def environment(self, **more: object) -> dict[str, str]:
        path = os.pathsep.join(str(p) for p in (self.root, HERE, self._folder))
        own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        return {**os.environ, **own, **{name: str(value) for name, value in more.items()}}

    def map_calls(self, notes: Path, jobs: int, parts: Sequence[str]) -> None:
        """Mark this copy, run all tests, or those of some folders, and note what they reach."""
        folders = {path.parent.name for path in (self.root / "tests").glob("*/test_*.py")}
        folders |= {"unit"}  # which has folders of its own
        parts = [f"tests/{p}" for p in (parts or sorted(folders - set(LEFT_OUT)))]
        (notes / calls.KEYS).write_text(json.dumps(blocks.mark(self.root)))
        subprocess.run(
            [*_pytest("calls"), "-n", str(jobs), "--dist", "worksteal", "-k", QUICK, *parts],
            cwd=self.root,
            env=self.environment(**{calls.FOLDER: notes}),
        )

    def collect(self, tests: Iterable[str]) -> Forks:
        """A process that has collected the files of these tests."""
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        return Forks([*_pytest("forks"), "-k", QUICK, *files], self.root, self.environment())

    def run(self, tests: Sequence[str], seconds: float, forks: Forks, file: str = "") -> Result:
        """Whether the tests passed, failed or hung, and the first that failed.

        The forks get the functions of a changed file, if one is named.
        """
        changed = (str(self.root / file), str(self._original)) if file else ()
        return forks.run(tests, SLACK + TIMES * seconds, *changed)

    def run_anew(self, tests: Sequence[str], seconds: float) -> Result:
        """The same in a process that imports what is changed."""
        started = self.collect(tests)
        try:
            return started.run(tests, SLACK + TIMES * seconds)
        finally:
            started.close()

    def judge(self, change: Change, stages: Sequence[Stage], forks: Forks) -> Verdict:
        """Make a change, run tests until one fails, and take it back."""
        path = self.root / change.file
        source, kept = path.read_bytes(), path.stat()
        ran = sum(len(tests) for tests, _ in stages)
        try:
            self._original.write_bytes(source)
            path.write_bytes(change.applied_to(source))
            # Bytecode is known by size and second: no two changes may share them.
            self._clock += 1
            os.utime(path, (self._clock, self._clock))
            for word, test in self._results(stages, forks, change.file):
                if word in ("failed", "hung"):
                    return Verdict(change, "caught" if word == "failed" else word, ran, test)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        return Verdict(change, "survived" if ran else "uncalled", ran)

    def _results(self, stages: Sequence[Stage], forks: Forks, file: str) -> Iterator[Result]:
        """Of each stage in a fork, then of those that need a process of their own.

        Code that ran while it was imported cannot be exchanged in a fork: stages that a fork could
        not run, or else the first, run once more in a process that imports it.
        """
        cold = []
        for tests, seconds in stages:
            result = self.run(tests, seconds, forks, file)
            if result[0] == "cold":
                cold.append((tests, seconds))
            yield result
        for tests, seconds in cold or stages[:1]:
            yield self.run_anew(tests, seconds)


def _shared() -> Path:
    return ROOT.parent / "shared"


def _pytest(plugin: str) -> list[str]:
    cache = f"cache_dir={ROOT / 'runs' / 'mutate' / 'cache'}"  # of compiled kernels
    return [sys.executable, "-m", "pytest", "-q", "-p", plugin, "-o", cache]
