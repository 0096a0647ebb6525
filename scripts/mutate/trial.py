"""Copies of the repository, and tests that run in them with and without a change."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import calls
import pick
from places import Change

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
# Their tests call much, and take long: documents, emulated GPUs, whole models.
LEFT_OUT = ("docs", "gpu", "models", "zoo")
# Processes that a test starts; pytest itself comes to the notes as to a plugin.
IN_CHILD = """import os
if "PYTEST_CURRENT_TEST" in os.environ:
    import calls
    calls.in_child()
"""
QUICK = "not cupy-emulated"
SLACK, TIMES = 60, 4  # a run may take so many seconds more, and so many times, what was noted


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
        self._clock = 0

    def environment(self, **more: object) -> dict[str, str]:
        path = os.pathsep.join(str(p) for p in (self.root, HERE, self._folder))
        own = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        return {**os.environ, **own, **{name: str(value) for name, value in more.items()}}

    def map_calls(self, notes: Path, jobs: int, parts: Sequence[str]) -> None:
        """Run the tests once, all or those of some folders, and note what each calls."""
        folders = {path.parent.name for path in (self.root / "tests").glob("*/test_*.py")}
        folders |= {"unit"}  # which has folders of its own
        parts = [f"tests/{p}" for p in (parts or sorted(folders - set(LEFT_OUT)))]
        (self._folder / "sitecustomize.py").write_text(IN_CHILD)
        try:
            subprocess.run(
                [*_pytest("calls"), "-n", str(jobs), "--dist", "worksteal", "-k", QUICK, *parts],
                cwd=self.root,
                env=self.environment(**{calls.FOLDER: notes}),
            )
        finally:
            (self._folder / "sitecustomize.py").unlink()

    def run(self, tests: Sequence[str], seconds: float) -> tuple[str, str]:
        """Whether the tests passed, failed or hung, and the first that failed."""
        names = self._folder / "tests.json"
        names.write_text(json.dumps(tests))
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        process = subprocess.Popen(
            [*_pytest("pick"), "-x", "--tb=no", "-rfE", *files],
            cwd=self.root,
            env=self.environment(**{pick.TESTS: names}),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=SLACK + TIMES * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # conftest.py then ends what tests have started
            process.communicate()
            return "hung", ""
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
        return ("passed" if process.returncode == 0 else "failed"), failed[1] if failed else ""

    def judge(self, change: Change, stages: Iterable[tuple[Sequence[str], float]]) -> Verdict:
        """Make a change, run tests until one fails, and take it back."""
        path = self.root / change.file
        source, kept = path.read_bytes(), path.stat()
        ran = 0
        try:
            path.write_bytes(change.applied_to(source))
            # Bytecode is known by size and second: no two changes may share them.
            self._clock += 1
            os.utime(path, (self._clock, self._clock))
            for tests, seconds in stages:
                ran += len(tests)
                word, test = self.run(tests, seconds)
                if word != "passed":
                    return Verdict(change, "caught" if word == "failed" else word, ran, test)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        return Verdict(change, "survived" if ran else "uncalled", ran)


def _shared() -> Path:
    return ROOT.parent / "shared"


def _pytest(plugin: str) -> list[str]:
    cache = f"cache_dir={ROOT / 'runs' / 'mutate' / 'cache'}"  # of compiled kernels
    return [sys.executable, "-m", "pytest", "-q", "-p", plugin, "-o", cache]
