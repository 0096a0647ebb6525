"""Tests in forks of one process that has imported and collected them all.

As a plugin of pytest it serves: a request, a line of JSON on the socket in MUTATE_FORKS, names
tests and a changed file.  A fork gives the functions that are there the changed code and runs the
tests until one fails.  ``Forks`` is the other end.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

SOCKET = "MUTATE_FORKS"
COLLECTING = 600  # seconds


class Forks:
    """A process that has collected tests, and runs them in forks, one by one or a whole file."""

    def __init__(self, command: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env={**env, SOCKET: str(theirs.fileno())},
            pass_fds=[theirs.fileno()],
            stdout=self._said,
            stderr=self._said,
        )
        theirs.close()
        self._socket, self._lines = ours, ours.makefile()
        self._collected = False

    def wait(self) -> None:
        """Until the tests are collected, and so what they import.

        Raises:
            ValueError: they cannot be.
        """
        if not self._collected:
            self._socket.settimeout(COLLECTING)
            self._collected = bool(self._lines.readline())
        if not self._collected:
            self._said.seek(0)
            raise ValueError(f"pytest has ended: {self._said.read()[-2000:]}")

    def run(
        self, tests: Sequence[str], seconds: float, changed: str = "", original: str = ""
    ) -> tuple[str, str]:
        """Whether they passed, failed, hung or cannot be run here; the first that failed.

        They may compute for so many seconds, and wait longer where others compute too.
        """
        request = {"tests": list(tests), "changed": changed, "original": original}
        request["seconds"] = max(int(seconds), 1)
        seconds *= max(os.getloadavg()[0] / (os.cpu_count() or 1), 1)
        child = 0
        try:
            self.wait()
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            self._socket.settimeout(seconds)
            child = json.loads(self._lines.readline())
            word, test = json.loads(self._lines.readline())
        except TimeoutError:
            self._kill(child)
            return "hung", ""
        except (ValueError, OSError):  # it has ended: the tests cannot be collected
            return "failed", ""
        return word, test

    def _kill(self, child: int) -> None:
        if not child:
            self._process.kill()
            return
        os.killpg(child, signal.SIGKILL)
        self._socket.settimeout(None)
        self._lines = self._socket.makefile()
        self._lines.readline()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
        self._process.wait()
        self._said.close()


# -- the process that forks ------------------------------------------------------------------------


def pytest_runtestloop(session: Any) -> bool:
    connection = socket.socket(fileno=int(os.environ.pop(SOCKET)))
    items = {item.nodeid: [item] for item in session.items}
    for item in session.items:
        items.setdefault(item.nodeid.split("::")[0], []).append(item)
    session.config._tmp_path_factory.getbasetemp()  # one for all forks
    functions = _functions()
    gc.freeze()  # what a fork does not look at is not copied
    connection.sendall(b"collected\n")
    for line in connection.makefile():
        request = json.loads(line)
        answer, theirs = os.pipe()
        if not (child := os.fork()):
            try:
                chosen = [item for name in request["tests"] for item in items.get(name, [])]
                found = _run(chosen, request, functions)
                os.write(theirs, json.dumps(found).encode())
            finally:
                os._exit(0)
        os.close(theirs)
        connection.sendall(f"{child}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.set_blocking(answer, False)  # what the tests have started may hold the other end
        try:
            said = os.read(answer, 10_000)
        except BlockingIOError:
            said = b""
        os.close(answer)
        # A fork that was ended: it has computed too long, or by its fault.
        ended = "hung" if -code in (signal.SIGXCPU, signal.SIGKILL) else "failed"
        connection.sendall((said or json.dumps([ended, ""]).encode()) + b"\n")
    return True


def _functions() -> dict[str, list[FunctionType]]:
    """Those that are there, by the file of their code."""
    found: dict[str, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            found.setdefault(thing.__code__.co_filename, []).append(thing)
    return found


def _run(
    items: list[Any], request: dict[str, Any], functions: dict[str, list[FunctionType]]
) -> tuple[str, str]:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"]))
    changed = request["changed"]
    known = functions.get(changed, [])
    if changed and _imported(changed) and not exchange(request["original"], changed, known):
        return "cold", ""
    failed: list[str] = []

    class First:
        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                failed.append(report.nodeid)

    for item, following in zip(items, [*items[1:], None], strict=True):
        if item is items[0]:
            item.config.pluginmanager.register(First())
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            item.session._setupstate.teardown_exact(None)
            return "failed", failed[0]
    return "passed", ""


def _imported(file: str) -> bool:
    """Whether a module is there already; if not, tests import it as it is changed."""
    return any(getattr(module, "__file__", None) == file for module in [*sys.modules.values()])


def exchange(original: str, changed: str, functions: list[FunctionType]) -> bool:
    """Give a file's functions the code of the changed file; whether that could be done."""
    before, after = (
        dict(_codes(compile(Path(path).read_bytes(), changed, "exec", dont_inherit=True)))
        for path in (original, changed)
    )
    new = {code: after[key] for key, code in before.items() if after.get(key, code) != code}
    new = {code: other for code, other in new.items() if code.co_name != "<module>"}
    found = [function for function in functions if function.__code__ in new]
    try:
        for function in found:
            function.__code__ = new[function.__code__]
    except ValueError:  # it encloses other variables
        return False
    return bool(found)


def _codes(module: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Every code of a module, by its name and how many of that name came before."""
    numbers: Counter[str] = Counter()

    def walk(code: CodeType, name: str) -> Iterator[tuple[tuple[str, int], CodeType]]:
        yield (name, numbers[name]), code
        numbers[name] += 1
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from walk(constant, f"{name}.{constant.co_name}")

    return walk(module, "")
