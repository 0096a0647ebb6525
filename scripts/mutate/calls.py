"""A plugin of pytest that notes which blocks of the marked sources each test reaches.

``blocks.mark`` has marked them; the folder of the notes is in MUTATE_CALLS.  Each process that
runs tests writes a line of JSON for each of them, and those that a test starts mark in its room.
"""

from __future__ import annotations

import base64
import json
import mmap
import os
import zlib
from pathlib import Path
from typing import Any

import blocks

FOLDER = "MUTATE_CALLS"
KEYS = "keys.json"


class Notes:
    """Of a process that runs tests."""

    def __init__(self, folder: Path) -> None:
        count = len(json.loads((folder / KEYS).read_text()))
        self._room = folder / f"{os.getpid()}.seen"
        self._room.write_bytes(bytes(count))
        os.environ[blocks.ROOM] = str(self._room)
        with self._room.open("r+b") as file:
            self._seen = mmap.mmap(file.fileno(), 0)
        self._path = folder / f"{os.getpid()}.jsonl"
        self._begin, self._passed = 0.0, True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._seen[:] = bytes(len(self._seen))
        self._begin, self._passed = _computed(), True

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._passed = self._passed and report.passed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        seen = base64.b85encode(zlib.compress(self._seen[:])).decode()
        seconds = _computed() - self._begin
        notes = {"test": nodeid, "seconds": seconds, "passed": self._passed, "seen": seen}
        with self._path.open("a") as file:
            file.write(json.dumps(notes) + "\n")

    def forget(self) -> None:
        self._room.unlink()


def _computed() -> float:
    """Seconds of processors so far, of this process and of those that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


# Now: conftest.py imports what is marked.
NOTES = Notes(Path(os.environ[FOLDER])) if FOLDER in os.environ else None


def pytest_configure(config: Any) -> None:
    # The one that only hands tests out to workers of xdist runs none.
    if NOTES and (hasattr(config, "workerinput") or not config.getoption("numprocesses", None)):
        config.pluginmanager.register(NOTES)


def pytest_unconfigure() -> None:
    if NOTES:
        NOTES.forget()
