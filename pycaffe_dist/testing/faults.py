"""Faults at chosen moments of a training run, for tests of what a cluster does about them.

env = planted(folder, "kill:1:5:exchange", "raise:0:*:load")

A fault is ``kind:who:step:phase``, with ``:times`` behind it if it happens more than once in all
attempts together.  The ranks of a run with these variables do it to themselves: Python's own
``sitecustomize`` arms them, so that the program they run is the one that users run.  Each one
notes what it does in ``faults.jsonl`` of the folder before it does it.

    kind    kill, segv, stop[=SECONDS], signal=NUMBER, exit[=CODE], raise, memory, hang, nan,
            nan-gradient, diverge, skew=SECONDS, link-down[=SECONDS], slow-link=RATE
    who     the number of a rank, or all; mpirun (which started rank 0), daemon (which started the
            last rank on its node), supervisor (which started mpirun): what a signal can do to them
    step    an iteration from which on it may happen; * for any
    phase   when: see ``PHASES``; or so many seconds after the first step begins, as 2.5s
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pycaffe_dist.aliases import Facts
from pycaffe_dist.parallel.job.launcher import VARIABLES, rank_and_size

if TYPE_CHECKING:
    from pycaffe_dist.events import Event
    from pycaffe_dist.parallel.transport.comm_thread import Submitted
    from pycaffe_dist.solver import Solver

SCHEDULE, FOLDER, LOG = "PCD_FAULTS", "PCD_FAULTS_FOLDER", "faults.jsonl"
SECONDS = re.compile(r"(\d+\.?\d*)s")
PHASES = {
    "start": "Python begins; there is no MPI yet",
    "begin": "before the first step",
    "batch": "the first layer has read its batch",
    "compute": "in the middle of a forward pass",
    "backward": "the gradient of the first parameter is there and not yet on its way",
    "exchange": "gradients are on their way, in the thread that communicates",
    "gathered": "after backward, before the update",
    "snapshot": "a snapshot begins, for the disk or for memory",
    "write": "a snapshot's file is written and not yet safe on disk (rank 0)",
    "rename": "it is on disk and has not got its name (rank 0)",
    "renamed": "it has got its name; the third file may be missing (rank 0)",
    "two-files": "two files of a snapshot have got their names, the third has not (rank 0)",
    "load": "a snapshot is read and not yet with all ranks",
    "test": "in a test pass",
    "end": "after the last step",
    "exit": "all is said and done",
}


@dataclass(frozen=True)
class Fault:
    """One line of a schedule."""

    kind: str
    value: str
    who: str
    step: int | None
    phase: str
    times: int

    @staticmethod
    def parse(text: str) -> Fault:
        kind, who, step, phase, *times = text.split(":")
        kind, _, value = kind.partition("=")
        if kind not in KINDS or not (phase in PHASES or SECONDS.fullmatch(phase)):
            raise ValueError(f"{text}: kinds are {', '.join(KINDS)}; phases {', '.join(PHASES)}")
        at = None if step == "*" else int(step)
        return Fault(kind, value, who, at, phase, int(times[0]) if times else 1)

    def due(self, phase: str, iteration: int) -> bool:
        rank, ranks = rank_and_size()
        actor = {"all": rank, "mpirun": 0, "supervisor": 0, "daemon": ranks - 1}.get(self.who)
        mine = rank == (int(self.who) if actor is None else actor)
        return mine and phase == self.phase and iteration >= (self.step or 0)

    def target(self) -> int:
        """The process that a signal goes to."""
        if self.who not in ("mpirun", "daemon", "supervisor"):
            return os.getpid()
        daemon = os.getppid()
        if self.who == "daemon":
            return daemon
        # Hydra's mpirun has a daemon on its own node too.
        mpirun = _parent(daemon) if "PMI_RANK" in os.environ else daemon
        return mpirun if self.who == "mpirun" else _parent(mpirun)


def planted(folder: str | os.PathLike[str], *schedule: str) -> dict[str, str]:
    """The variables of a run whose ranks have these faults."""
    for text in schedule:
        Fault.parse(text)
    line = "from pycaffe_dist.testing import faults\nfaults.arm()\n"
    (Path(folder) / "sitecustomize.py").write_text(line)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {SCHEDULE: ",".join(schedule), FOLDER: str(folder), "PYTHONPATH": path}


def happened(folder: str | os.PathLike[str]) -> list[Facts]:
    """What was done so far: time, fault, rank, iteration, process."""
    log = Path(folder) / LOG
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def arm() -> None:
    """Do as the variables say, if this process is a rank."""
    if SCHEDULE in os.environ and any(name in os.environ for name, _ in VARIABLES):
        Saboteur([Fault.parse(text) for text in os.environ[SCHEDULE].split(",") if text]).begin()


class Saboteur:
    """Waits, inside a rank, for the moments of its faults."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        self.solver: Solver | None = None

    def begin(self) -> None:
        self.moment("start")
        from pycaffe_dist.parallel.cluster import Cluster
        from pycaffe_dist.parallel.transport.comm_thread import CommThread
        from pycaffe_dist.solver import Solver
        from pycaffe_dist.solvers import snapshots

        _after(Solver, "__init__", self._built)
        _after(CommThread, "_step", self._stepped)
        _before(Cluster, "restored", lambda *_: self.moment("load"))
        _before(snapshots, "captured", lambda *_: self.moment("snapshot"))
        _before(os, "fsync", lambda handle: self._file("write", f"/proc/self/fd/{handle}"))
        _before(os, "replace", lambda _, target: self._file("rename", target))
        _after(os, "replace", lambda _, source, target: self._renamed(target))
        atexit.register(self.moment, "exit")

    # -- moments -------------------------------------------------------------------------------

    def _built(self, _: None, solver: Solver, *__: object) -> None:
        self.solver = solver
        middle, lowest = len(solver.net.layers) // 2, solver.net.params.learnable[0].owner[0]
        solver.net.before_forward.append(partial(self._layer, "batch", 1))
        solver.net.before_forward.append(partial(self._layer, "compute", middle))
        solver.net.after_backward.append(partial(self._layer, "backward", lowest))
        for net in solver.test_nets:
            net.before_forward.append(lambda _: self.moment("test"))
        solver.on_gradients_ready.append(lambda: self.moment("gathered"))
        solver.subscribers.append(self._told)

    def _layer(self, phase: str, wanted: int, index: int) -> None:
        if index == wanted:
            self.moment(phase)

    def _told(self, event: Event) -> None:
        phase = {"SolveBegins": "begin", "SolveEnds": "end"}.get(type(event).__name__)
        if phase:
            self.moment(phase)
        if phase == "begin":
            self._wind_up()

    def _wind_up(self) -> None:
        for phase in {fault.phase for fault in self.faults}:
            if seconds := SECONDS.fullmatch(phase):
                timer = threading.Timer(float(seconds[1]), self.moment, [phase])
                timer.daemon = True
                timer.start()

    def _stepped(self, _: bool, __: object, job: Submitted[object]) -> None:
        if not job.done and job.scheme != "control":
            self.moment("exchange")

    def _file(self, phase: str, path: str | os.PathLike[str]) -> None:
        if "_iter_" in os.path.basename(os.path.realpath(path)):
            self.moment(phase)

    def _renamed(self, path: str | os.PathLike[str]) -> None:
        self._file("renamed", path)
        if ".solverstate" in os.path.basename(path):
            self._file("two-files", path)

    def moment(self, phase: str) -> None:
        """Do what is due now."""
        iteration = self.solver.iter if self.solver else 0
        for fault in self.faults:
            if fault.due(phase, iteration) and self._note(fault, iteration):
                KINDS[fault.kind](fault, self.solver)

    def _note(self, fault: Fault, iteration: int) -> bool:
        """Write down that it happens, unless it has happened often enough."""
        rank, _ = rank_and_size()
        row = {"fault": str(fault), "rank": rank, "iteration": iteration}
        with open(Path(os.environ[FOLDER]) / LOG, "a+") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.seek(0)
            before = [json.loads(line) for line in log]
            same = [r for r in before if (r["fault"], r["rank"]) == (str(fault), rank)]
            if len(same) >= fault.times:
                return False
            log.write(json.dumps({"time": time.time(), "pid": os.getpid(), **row}) + "\n")
        return True


def _before(owner: object, name: str, function: Callable[..., object]) -> None:
    original = getattr(owner, name)

    def wrapped(*args: object, **kwargs: object) -> object:
        function(*args)
        return original(*args, **kwargs)

    setattr(owner, name, wrapped)


def _after(owner: object, name: str, function: Callable[..., object]) -> None:
    original = getattr(owner, name)

    def wrapped(*args: object, **kwargs: object) -> object:
        result = original(*args, **kwargs)
        function(result, *args)
        return result

    setattr(owner, name, wrapped)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


# -- kinds -----------------------------------------------------------------------------------------


def _signal(number: int) -> Callable[[Fault, Any], None]:
    return lambda fault, _: os.kill(fault.target(), number or int(fault.value))


def _segv(fault: Fault, _: object) -> None:
    if fault.target() == os.getpid():
        ctypes.string_at(0)
    os.kill(fault.target(), signal.SIGSEGV)


def _stop(fault: Fault, _: object) -> None:
    target = fault.target()
    if fault.value:
        _later(float(fault.value), f"kill -CONT {target}")
    os.kill(target, signal.SIGSTOP)


def _raise(*_: object) -> None:
    raise RuntimeError("a fault that was asked for")


def _memory(*_: object) -> None:
    """No more memory than the process has now; and then it asks for some."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + (16 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    bytearray(1 << 30)


def _nan(_: Fault, solver: Solver) -> None:
    """A batch that has none: to be done when it is there."""
    solver.net.blobs[0].data[...] = float("nan")


def _nan_gradient(_: Fault, solver: Solver) -> None:
    solver.net.params.learnable[0].blob.diff[...] = float("nan")


def _diverge(_: Fault, solver: Solver) -> None:
    solver.stepper.settle()
    solver.net.params.learnable[-1].blob.data.reshape(-1)[0] += 1e-3


def _skew(fault: Fault, _: object) -> None:
    """The clocks of another machine: one is wrong, the others count from elsewhere."""
    for name in ("time", "monotonic", "perf_counter"):
        right = getattr(time, name)
        setattr(time, name, lambda right=right: right() + float(fault.value))


def _link_down(fault: Fault, _: object) -> None:
    if fault.value:
        _later(float(fault.value), "ip link set eth0 up")
    subprocess.run(["ip", "link", "set", "eth0", "down"], check=True)


def _slow_link(fault: Fault, _: object) -> None:
    shape = f"root tbf rate {fault.value} burst 256kb latency 20ms"
    subprocess.run(["tc", "qdisc", "replace", "dev", "eth0", *shape.split()], check=True)


def _later(seconds: float, command: str) -> None:
    """Run a command after so many seconds, whatever becomes of us."""
    env = {"PATH": os.environ["PATH"]}  # nobody takes it for a process of the job
    words = ["sh", "-c", f"sleep {seconds}; exec {command}"]
    null = subprocess.DEVNULL
    subprocess.Popen(words, env=env, stdout=null, stderr=null, start_new_session=True)


KINDS: dict[str, Callable[[Fault, Any], object]] = {
    "kill": _signal(signal.SIGKILL),
    "segv": _segv,
    "stop": _stop,
    "signal": _signal(0),
    "exit": lambda fault, _: os._exit(int(fault.value or 0)),
    "raise": _raise,
    "memory": _memory,
    "hang": lambda *_: time.sleep(3600),
    "nan": _nan,
    "nan-gradient": _nan_gradient,
    "diverge": _diverge,
    "skew": _skew,
    "link-down": _link_down,
    "slow-link": _slow_link,
}
