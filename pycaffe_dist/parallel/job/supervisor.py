"""A training run as its launcher sees it: processes, and what their lifeline tells."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from pycaffe_dist import caffe_log as log
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import is_private, open_regular
from pycaffe_dist.parallel.job import lifeline, memory
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.parallel.job.mpirun import Mpirun, environment, find_mpirun, passed_on
from pycaffe_dist.parallel.job.mpirun_words import Words
from pycaffe_dist.parallel.job.reach import Probe, ways
from pycaffe_dist.parallel.transport import confine

Show = Callable[[bytes], None]
JOB = "PCD_JOB"  # the variable by which the processes of a job are found again
FOLDER = "pcd-job-"  # and the launcher's number: the folder of a job's sockets
MEMORY = "memory"  # in it: the names of the job's files in /dev/shm
# Settings by which users choose the interfaces of ranks themselves; only one of them is allowed.
OWN_INTERFACES = {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"}
OPEN_SOCKETS = (
    "%d sockets of this job listen on all interfaces: this system (an old Linux, or a container) "
    "does not let them be tied to loopback; a firewall would"
)
LEAVE_SECONDS = 5.0  # between a polite and an impolite end
# Become a program that is asked to end when its launcher is gone, which may be so already.
LEASH = """
import ctypes, os, sys
getattr(ctypes.CDLL(None), "prctl", lambda *_: None)(1, 15)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


class Job:
    """A program on so many ranks; as a context manager it leaves no process behind.

    Args:
        program: the command of one rank.
        ranks: how many; one is started without MPI.
        hosts: where; none: here.
        env: the variables of the ranks, besides what they need to know of the job.
        show: where lines of standard output and of standard error go.
        hear: is told events of training.

    Attributes:
        heard_at: when it was heard of last, by the monotonic clock.
        iteration: where it was then; None before its first sign of life.
        snapshots: the state files of whole snapshots, oldest first.
        kept: the iteration of the newest snapshot that is kept in memory.
        end: "done" or "early" when it has said that it is through.
        started: whether a rank was heard of, so that all hosts have been reached.
        failed, culprit: the exit code that a failing rank announced, and its name.
        stalls: what ranks have told that waited too long.
        words: what mpirun has told.
        away: hosts that could not be reached.
    """

    def __init__(
        self,
        program: Sequence[str],
        ranks: int = 1,
        hosts: Sequence[Host] = (),
        env: dict[str, str] | None = None,
        show: tuple[Show, Show] | None = None,
        hear: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.program, self.ranks, self.hosts = list(program), ranks, list(hosts)
        self.name = uuid.uuid4().hex
        self.env = dict(os.environ if env is None else env)
        self.mpirun: Mpirun | None = find_mpirun() if ranks > 1 or hosts else None
        self.heard_at = time.monotonic()
        self.iteration: int | None = None
        self.snapshots: list[str] = []
        self.kept: int | None = None
        self.end: str | None = None
        self._end_code = 0
        self._wish: signal.Signals | None = None
        self.failed: int | None = None
        self.culprit = ""
        self.stalls: list[str] = []
        self.started = self._told_open = False
        self.words = Words()
        self.away: list[str] = []
        self._show, self._hear = show or (to_stdout, to_stderr), hear

    def __enter__(self) -> Job:
        # Sockets and shared memory of MPI go here, and with it when a kill leaves them behind.
        sweep()
        self._folder = tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-")
        self.process = subprocess.Popen(
            [sys.executable, "-ISc", LEASH, str(os.getpid()), *self._command()],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if self.mpirun else None,
            start_new_session=True,  # a terminal's Ctrl-C is for the launcher alone
        )
        self._listeners = [
            threading.Thread(target=self._listen, args=(stream, show), name="lifeline", daemon=True)
            for stream, show in zip(
                (self.process.stdout, self.process.stderr), self._show, strict=True
            )
            if stream is not None
        ]
        for listener in self._listeners:
            listener.start()
        return self

    def _command(self) -> list[str]:
        if self.mpirun is None:
            return self.program
        hostfile = None
        if self.hosts:
            hostfile = os.path.join(self._folder, "hosts")
            Path(hostfile).write_text(self.mpirun.hosts(self.hosts))
        variables = passed_on(self._environment())
        return self.mpirun.command(self.ranks, self.program, hostfile, variables)

    def _environment(self) -> dict[str, str]:
        env = self.env | {JOB: self.name, lifeline.VARIABLE: "1"}
        if self.mpirun is None:
            return env
        env["TMPDIR"] = self._folder
        if not self.hosts:  # others have no such folder, and this setting goes to them too
            env["OMPI_MCA_btl_sm_backing_directory"] = self._folder
        if not OWN_INTERFACES & env.keys():
            if not self.hosts:
                env["OMPI_MCA_btl_tcp_if_include"] = "lo"
            elif network := confine.shared_network([host.name for host in self.hosts]):
                env[confine.VARIABLE] = network
        return environment(self.hosts[0].slots if self.hosts else self.ranks, env)

    # -- its words ---------------------------------------------------------------------------

    def _listen(self, stream: IO[bytes], show: Show) -> None:
        reader = self.words.reader(show)
        empty = False  # an empty line is held back: a sign of life begins with one
        for line in stream:
            sign = lifeline.heard(line.decode(errors="replace"))
            if empty and sign is None:
                reader.line(b"\n")
            empty = line == b"\n"
            if sign:
                self._note(*sign)
            elif not empty:
                reader.line(line)
        reader.end()

    def hear_out(self) -> None:
        """Wait for what a job that is over has said last."""
        for listener in self._listeners:
            listener.join(LEAVE_SECONDS)
        self.away = self.away or list(self.words.not_reached)  # which is of all, after a kill

    def ways(self) -> dict[str, list[str]]:
        """How mpirun gets to the hosts."""
        return ways(self.process.pid, [host.name for host in self.hosts])

    def probe(self, ways: Mapping[str, Sequence[str]] | None = None) -> Probe:
        """Ask its hosts, or those of other ways, whether they answer."""
        return Probe(self.ways() if ways is None else ways, self._environment())

    def _note(self, word: str, value: str) -> None:
        self.heard_at = time.monotonic()
        if self.mpirun and not self.hosts:
            self._confine(word)
        self.started = True
        if word == lifeline.START:
            rank, pid = value.split()
            self.words.ranks[int(pid)] = rank
        elif word == lifeline.BEAT:
            self.iteration = int(value)
        elif word == lifeline.SNAPSHOT:
            self.snapshots.append(value)
        elif word == lifeline.KEPT:
            self.kept = int(value)
        elif word == lifeline.STALL and self.failed is None:
            # Later ones are of ranks that were stopped, and woken only to be ended with the rest.
            self.stalls.append(value)
        elif word == lifeline.MEMORY:
            with open(os.path.join(self._folder, MEMORY), "a") as names:
                names.write(f"{os.path.basename(value)}\n")
        elif word == lifeline.EVENT:
            self._hear(value)
        elif word == lifeline.END:
            self.end, code = value.split()
            self._end_code = int(code)
        elif word == lifeline.FAILED and self.failed is None:
            code, iteration, self.culprit = value.split(" ", 2)
            self.failed = int(code)
            if int(iteration) != lifeline.BEFORE:
                self.iteration = int(iteration)

    def _confine(self, word: str) -> None:
        """Nobody on another host has to reach this job: its launcher first, then its ranks."""
        pids = [] if self.started else [self.process.pid]
        if word == lifeline.BEAT and self.iteration is None:
            pids += _processes(self.name)
        forbidden = sum(confine.confine(pid)[1] for pid in pids)
        if forbidden and not self._told_open:
            self._told_open = True
            log.warning("parallel.cpp", OPEN_SOCKETS, forbidden)

    # -- its end -----------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def ask(self, stop: bool) -> None:
        """Pass a wish on to all ranks: stop with a snapshot, or a snapshot alone."""
        if self.mpirun:
            wish = self.mpirun.stop if stop else self.mpirun.snapshot
        else:
            wish = signal.SIGTERM if stop else signal.SIGUSR1
        self._wish = wish if stop else self._wish
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(wish)

    def kill(self, politely: bool = True) -> None:
        """End it: mpirun gets the time to end its ranks, on other hosts too.

        Ranks that are asked politely may stop with a snapshot; others are gone at once.
        """
        if self.running and (politely or self.hosts):
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LEAVE_SECONDS if self.mpirun else 0)
        if self.running:
            self.process.kill()
        self.process.wait()
        kill_leftovers(self.name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.kill()
        self.hear_out()
        for stream, listener in zip(
            (self.process.stdout, self.process.stderr), self._listeners, strict=False
        ):
            if stream and not listener.is_alive():
                stream.close()
        _remove(Path(self._folder))

    @property
    def code(self) -> int:
        """What the whole job's exit code is, whatever mpirun made of it."""
        if self.end is not None:  # by a signal of ours: why, its sender knows
            ours = self._wish is not None and self._end_code == 128 + self._wish
            return 0 if ours else self._end_code
        code: int = self.process.returncode
        if self.away:
            return 1
        return self.failed or (128 - code if code < 0 else code) or 1


def to_stdout(line: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.buffer.write(line)
        sys.stdout.flush()


def to_stderr(line: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.buffer.write(line)
        sys.stderr.flush()


def sweep() -> None:
    """Remove what launchers that were killed have left; what others have put there stays."""
    memory.sweep()
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}[0-9]*-*"):
        if not Path("/proc", folder.name.split("-")[2]).exists() and is_private(folder):
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the folder of a job that is over, and what the job has left in shared memory."""
    with contextlib.suppress(FileError, OSError, ValueError):
        with open_regular(folder / MEMORY, "rb") as file:
            names = file.read().decode().splitlines()
        for name in names:
            if name == os.path.basename(name) and name not in ("", ".", ".."):
                Path("/dev/shm", name).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def kill_leftovers(job: str) -> list[int]:
    """Kill this host's processes of a job; the ones there were."""
    killed: list[int] = []
    for _ in range(20):
        found = [pid for pid in _processes(job) if pid != os.getpid()]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed += [pid for pid in found if pid not in killed]
        time.sleep(0.1)
    return killed


def _processes(job: str) -> list[int]:
    found = []
    wanted = f"{JOB}={job}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            there = wanted in (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended, or is not ours
            continue
        if there:
            found.append(int(folder.name))
    return found
