"""Which functions each test calls: a plugin of pytest, and what processes that tests start do.

With ``-p calls`` and the folder of the notes in MUTATE_CALLS every process of a run notes the code
it runs, test by test; ``sitecustomize`` in that folder brings child processes here.
"""

from __future__ import annotations

import ast
import atexit
import json
import os
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import places

FOLDER = "MUTATE_CALLS"
PACKAGE = "/pycaffe_dist/"
_seen: dict[int, Any] = {}  # code objects, by id: to compare them takes long
_tests: dict[str, dict[str, Any]] = {}  # by test: its seconds, and the functions it calls


def _note(frame: Any, event: str, arg: Any) -> None:
    _seen[id(frame.f_code)] = frame.f_code


def _begin() -> None:
    _seen.clear()
    threading.settrace(_note)
    sys.settrace(_note)


def _end() -> list[str]:
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    return sorted({name for code in list(_seen.values()) for name in _named(code)})


def _named(code: Any) -> Iterator[str]:
    """``pycaffe_dist/net.py:Net.forward``, also for what is defined inside of it."""
    at = code.co_filename.rfind(PACKAGE)
    if at >= 0:
        names, begins, ends = _functions(code.co_filename)
        i = bisect_right(begins, code.co_firstlineno) - 1
        if i >= 0 and code.co_firstlineno <= ends[i]:
            yield f"{code.co_filename[at + 1 :]}:{names[i]}"


@cache
def _functions(file: str) -> tuple[list[str], list[int], list[int]]:
    try:
        found = sorted(places.functions(ast.parse(Path(file).read_bytes())), key=lambda f: f[1])
    except (OSError, SyntaxError):
        found = []
    return [f[0] for f in found], [f[1] for f in found], [f[2] for f in found]


def _write(notes: dict[str, dict[str, Any]]) -> None:
    path = Path(os.environ[FOLDER], f"{os.getpid()}-{time.time_ns()}")
    path.write_text(json.dumps(notes))
    path.rename(f"{path}.json")  # whole, or not there: a test may kill its processes


def in_child() -> None:
    """Note what a process calls that a test has started."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" (", 1)[0]
    if test:
        _begin()
        atexit.register(lambda: _write({test: {"calls": _end()}}))


# -- hooks of pytest -------------------------------------------------------------------------------


class Notes:
    """Of a process that runs tests."""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        _begin()

    def pytest_runtest_logreport(self, report: Any) -> None:
        notes = _tests.setdefault(report.nodeid, {"seconds": 0.0, "passed": True})
        notes["seconds"] += report.duration
        notes["passed"] = notes["passed"] and report.passed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        _tests.setdefault(nodeid, {})["calls"] = _end()

    def pytest_sessionfinish(self) -> None:
        _write(_tests)


def pytest_configure(config: Any) -> None:
    # The one that only hands tests out to workers of xdist runs none.
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Notes())
