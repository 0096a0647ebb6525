"""The ranks of one side: processes on the nodes of a lab, told over a socket what to run.

A Unix socket has a path, so it reaches into every namespace, and ranks that are not asked anything
sleep.  Requests and answers are lines of JSON, as in bench/wire.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.netlab import SENT, Lab
from bench.wire import SCRIPTS, THREAD_SETTINGS, Side

CONTROL, RANK, SIZE, PIN = "BENCH_CONTROL", "BENCH_RANK", "BENCH_SIZE", "BENCH_PIN"
PATIENCE = 900.0  # seconds for an answer
LAST_LINES, LAST_WORDS = 25, 5.0  # of a rank that failed; seconds that they may take


class Ranks:
    """The started ranks of a side; as a context manager it ends them.

    Args:
        lab: where.
        size: how many.
        name: of the side.
        start: starts the ranks with the variables it is given; the processes.
        pin: let each rank have one core, as if its node had no more.
    """

    def __init__(
        self,
        lab: Lab,
        size: int,
        name: str,
        start: Callable[[Lab, dict[str, str], dict[str, Any]], list[subprocess.Popen[Any]]],
        pin: bool,
    ) -> None:
        self.lab, self.size, self.name = lab, size, name
        self._start, self._pin = start, pin

    def __enter__(self) -> Ranks:
        self._folder = Path(tempfile.mkdtemp(prefix="bench-"))
        self._log = open(self._folder / "log", "w")
        path = str(self._folder / "control")
        env = dict(os.environ, PYTHONPATH=str(SCRIPTS), **dict.fromkeys(THREAD_SETTINGS, "1"))
        env |= {CONTROL: path, SIZE: str(self.size), PIN: str(int(self._pin))}
        output: dict[str, Any] = {"stdout": self._log, "stderr": self._log}
        self._files: dict[int, Any] = {}
        self._processes: list[subprocess.Popen[Any]] = []
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path)
                listener.listen(self.size)
                self._processes = self._start(self.lab, env, output)
                self._accept(listener)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _accept(self, listener: socket.socket) -> None:
        listener.settimeout(1.0)
        begin = time.monotonic()
        while len(self._files) < self.size:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                ended = [p.returncode for p in self._processes if p.poll() is not None]
                if ended or time.monotonic() - begin > PATIENCE:
                    self._give_up("did not start")
                continue
            connection.settimeout(PATIENCE)
            file = connection.makefile("rw")
            self._files[int(file.readline())] = file

    def ask(self, do: str, **arguments: Any) -> list[dict[str, Any]]:
        """Ask all ranks at once; their answers, by rank."""
        for rank in range(self.size):
            self._request(rank, do, arguments)
        return [self._answer(rank, do) for rank in range(self.size)]

    def ask_first(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Ask rank 0, while the others do nothing."""
        self._request(0, do, arguments)
        return self._answer(0, do)

    def _request(self, rank: int, do: str, arguments: dict[str, Any]) -> None:
        file = self._files[rank]
        file.write(json.dumps({"do": do, **arguments}) + "\n")
        file.flush()

    def _answer(self, rank: int, do: str) -> dict[str, Any]:
        try:
            line = self._files[rank].readline()
        except TimeoutError:
            line = ""
        if not line:
            self._give_up(f"rank {rank} did not answer {do!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _give_up(self, what: str) -> None:
        for process in self._processes:  # mpirun passes on its ranks' last words as it ends
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LAST_WORDS)
        lines = (self._folder / "log").read_text(errors="replace").splitlines()[-LAST_LINES:]
        raise SystemExit("\n".join([*lines, f"the ranks of {self.name}: {what}; see above"]))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError):
                file.close()  # a rank that hears nothing more ends
        for process in self._processes:
            try:
                process.wait(20 if kind is None else 1)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def torch_ranks(lab: Lab, size: int, python: Path, options: str, pin: bool) -> Ranks:
    """PyTorch's, started as torchrun does: a process for each rank, told its number."""

    def start(lab: Lab, env: dict[str, str], output: Any) -> list[subprocess.Popen[Any]]:
        command = [str(python), "-m", "bench.cluster_torch", lab.address(0), options]
        env = env | {"GLOO_SOCKET_IFNAME": "eth0"}
        each = size // len(lab.nodes)
        return [
            lab.popen(lab.nodes[rank // each], command, env | {RANK: str(rank)}, **output)
            for rank in range(size)
        ]

    return Ranks(lab, size, "PyTorch", start, pin)


def our_ranks(lab: Lab, size: int, engine: str, pin: bool) -> Ranks:
    """Ours, started by mpirun."""
    from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, environment, find_mpirun

    mpirun = find_mpirun()
    if mpirun.kind != OPEN_MPI:
        raise SystemExit(f"the lab's mpirun is Open MPI's; {mpirun.path} is of {mpirun.kind}")

    def start(lab: Lab, env: dict[str, str], output: Any) -> list[subprocess.Popen[Any]]:
        env = environment(1, env)
        program = [sys.executable, "-m", "bench.cluster_ours", engine]
        command = lab.mpirun(mpirun.path, size, program, env)
        return [lab.popen(lab.nodes[0], command, env, stdin=subprocess.DEVNULL, **output)]

    return Ranks(lab, size, "pycaffe_dist", start, pin)


# -- in a rank -------------------------------------------------------------------------------------


def own_core(rank: int) -> None:
    """Keep to one core from now on, if that is asked for."""
    if os.environ[PIN] == "1":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})


def obey(side: Side, rank: int) -> None:
    """Answer requests until there are no more."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.environ[CONTROL])
        with connection.makefile("rw") as file:
            file.write(f"{rank}\n")
            file.flush()
            for line in file:
                request = json.loads(line)
                answer = getattr(side, request.pop("do"))(**request)
                file.write(json.dumps(answer) + "\n")
                file.flush()


def sent() -> int:
    """Bytes that have left this node."""
    return int(Path(SENT).read_text())
