"""Cases run in forked processes, with limits, and what their ends mean."""

from __future__ import annotations

import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import sound_files
from kinds import KINDS, Command

from pycaffe_dist import cli
from pycaffe_dist.engines import create
from pycaffe_dist.errors import MissingPartError, PcdError

CPU_SECONDS, WALL_SECONDS = 5, 60
MEMORY = 1 << 30  # that a case may have besides what it begins with
LARGEST_FILE = 64 << 20
TRACEBACK = 97  # exit code of a case that raised something else than a PcdError
SAID = 1

_FRAME = re.compile(r'File "[^"]*/pycaffe_dist/([^"]+)", line (\d+), in (\S+)')


@dataclass
class Outcome:
    """How a case ended: its exit code (negative: a signal), and what it used."""

    code: int
    text: str
    seconds: float
    hung: bool = False

    def fault(self) -> str:
        """What is wrong with it; "" if it ended well or with a message."""
        if self.hung or self.code == -signal.SIGXCPU:
            return f"hang: more than {CPU_SECONDS} s"
        if self.code < 0:
            return f"signal: {signal.Signals(-self.code).name}"
        if self.code == TRACEBACK or "Traceback (most recent call last)" in self.text:
            frames = _FRAME.findall(self.text) or [("?", "0", "?")]
            errors = re.findall(r"^([\w.]+)(?::|$)", self.text.strip(), re.MULTILINE)
            path, line, function = frames[-1]
            return f"traceback: {errors[-1] if errors else '?'} at {path}:{line} in {function}"
        if re.search("out of memory|MemoryError|fit into memory", self.text):
            return "memory: more than 1 GB"
        return ""


def prepare(folder: Path) -> None:
    """Import all that a case may need, and make sound files."""
    for verb in cli.VERBS:
        importlib.import_module(f"pycaffe_dist.cli.{verb}")
    with suppress(ImportError):
        importlib.import_module("matplotlib.pyplot")
    with suppress(MissingPartError):
        create("onednn").fix_choices()  # not by measuring, which takes time
    folder.mkdir(parents=True)
    made = [sound_files.make_here, *sound_files.TRAININGS, sound_files.make_weights_here]
    for command in made:
        outcome = run(folder, command, limited=False)
        if outcome.code:
            raise RuntimeError(f"no sound files: {command}\n{outcome.text}")


def make(sound: Path, folder: Path, seed: int, kind: str, number: int) -> Command | None:
    """Fill ``folder`` with case ``number``; None if no library would write the damaged file."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sound, folder)
    before = os.getcwd()
    os.chdir(folder)
    try:
        return KINDS[kind](random.Random(f"{seed}/{kind}/{number}"))
    except Exception:
        return None
    finally:
        os.chdir(before)


def run(folder: Path, command: Command, limited: bool = True) -> Outcome:
    """Run a command in ``folder``."""
    out = folder / ".output"
    pid = fork()
    if pid == 0:
        _child(folder, command, out, limited)
    begin, hung = time.monotonic(), False
    while not (ended := os.wait4(pid, os.WNOHANG))[0]:
        if limited and time.monotonic() - begin > WALL_SECONDS:
            hung = True
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    usage = ended[2]
    text = out.read_bytes().decode(errors="replace") if out.exists() else ""
    code = os.waitstatus_to_exitcode(ended[1])
    return Outcome(code, text, usage.ru_utime + usage.ru_stime, hung)


def fork() -> int:
    """As os.fork, which warns of threads from Python 3.12 on: our children need none of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _child(folder: Path, command: Command, out: Path, limited: bool) -> None:
    code = TRACEBACK
    try:
        os.chdir(folder)
        redirect(out)
        if limited:
            limit_memory()
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        code = _call(command)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code & 0xFF)


def _call(command: Command) -> int:
    try:
        if isinstance(command, list):
            return cli.main(command)
        command()
        return 0
    except PcdError as e:
        print(e, file=sys.stderr)
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else SAID
    return SAID


def redirect(out: Path) -> None:
    handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(handle, number)
    # Not closed: they are the process's own.
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", errors="backslashreplace", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", errors="backslashreplace", closefd=False)


def limit_memory() -> None:
    """No core files, no large ones, and no more than ``MEMORY`` besides what there is."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def words(command: Command | Callable[[], object]) -> str:
    return f"pcd {' '.join(command)}" if isinstance(command, list) else "(a reader, by itself)"
