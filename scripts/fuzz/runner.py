"""Cases run in forked processes, with limits, and what their ends mean."""

from __future__ import annotations

import gc
import importlib
import os
import random
import re
import resource
import select
import shutil
import signal
import sys
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
from pycaffe_dist.proto.dialects import dialects
from pycaffe_dist.registry import layer_types

CPU_SECONDS, WALL_SECONDS = 5, 60
MEMORY = 1 << 30  # addresses that a case may have besides those it begins with
MUCH_MEMORY = 400 << 20  # in use at once, besides those of the process that was forked
LARGEST_FILE = 64 << 20
TRACEBACK = 97  # exit code of a case that raised something else than a PcdError
SAID = 1
# What commands import when they come to it; here once, not in every case.
ONEDNN = "pycaffe_dist.engines.onednn"
LATE = ("matplotlib.pyplot", "onnx", "onnxruntime", f"{ONEDNN}.core.winograd", f"{ONEDNN}.fusion")

_FRAME = re.compile(r'File "[^"]*/pycaffe_dist/([^"]+)", line (\d+), in (\S+)')


@dataclass
class Outcome:
    """How a case ended: its exit code (negative: a signal), and what it used."""

    code: int
    text: str
    seconds: float  # of the processor
    memory: int  # most bytes in use, without those it began with
    hung: bool = False

    def fault(self) -> str:
        """What is wrong with it; "" if it ended well or with a message."""
        if self.hung:  # it waits for something, or the machine is too busy for it
            return f"hang: more than {WALL_SECONDS} s on the clock"
        if self.code == -signal.SIGXCPU:
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
        if self.memory > MUCH_MEMORY:
            return f"memory: more than {MUCH_MEMORY >> 20} MB"
        return ""


def prepare(folder: Path) -> None:
    """Import all that a case may need, and make sound files."""
    for verb in cli.VERBS:
        importlib.import_module(f"pycaffe_dist.cli.{verb}")
    layer_types()
    dialects()
    for module in LATE:
        with suppress(ImportError):
            importlib.import_module(module)
    with suppress(MissingPartError):
        create("onednn").fix_choices()  # not by measuring, which takes time
    folder.mkdir(parents=True)
    made = [sound_files.make_here, *sound_files.TRAININGS, sound_files.make_weights_here]
    made.append(sound_files.EXPORT)
    for command in made:
        outcome = run(folder, command, limited=False)
        if outcome.code:
            raise RuntimeError(f"no sound files: {command}\n{outcome.text}")
    gc.collect()
    gc.freeze()  # a collection in a child would write to every object, and so copy all memory


def make(sound: Path, folder: Path, seed: int, kind: str, number: int) -> Command | None:
    """Fill ``folder`` with case ``number``; None if no library would write the damaged file."""
    restore(sound, folder)
    before = os.getcwd()
    os.chdir(folder)
    try:
        return KINDS[kind](random.Random(f"{seed}/{kind}/{number}"))
    except Exception:
        return None
    finally:
        os.chdir(before)


def restore(sound: Path, folder: Path) -> None:
    """Make ``folder`` a copy of ``sound`` again, of which a case changed few files.

    A copy has the times of its original, which no file has that was written since.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with os.scandir(sound) as entries:
        wanted = {entry.name: entry for entry in entries}
    with os.scandir(folder) as entries:
        for entry in entries:
            original = wanted.get(entry.name)
            if original and entry.is_dir(follow_symlinks=False) and original.is_dir():
                restore(Path(original.path), Path(entry.path))
            elif original is None or _times(entry) != _times(original):
                _remove(entry)
                continue
            wanted.pop(entry.name)
    for name, original in wanted.items():
        copy = shutil.copytree if original.is_dir() else shutil.copy2
        copy(original.path, folder / name)


def _times(entry: os.DirEntry[str]) -> tuple[int, int, int]:
    found = entry.stat(follow_symlinks=False)
    return found.st_mode, found.st_size, found.st_mtime_ns


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path)
    else:
        os.unlink(entry.path)


def run(folder: Path, command: Command, limited: bool = True) -> Outcome:
    """Run a command in ``folder``."""
    out = folder / ".output"
    begun = _in_use()
    pid = fork()
    if pid == 0:
        _child(folder, command, out, limited)
    hung = limited and not _ends(pid, WALL_SECONDS)
    if hung:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    text = out.read_bytes().decode(errors="replace") if out.exists() else ""
    code = os.waitstatus_to_exitcode(status)
    most = max(0, (usage.ru_maxrss << 10) - begun)
    return Outcome(code, text, usage.ru_utime + usage.ru_stime, most, hung)


def _in_use() -> int:
    """Bytes of this process in memory, which a fork begins with."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _ends(pid: int, seconds: float) -> bool:
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


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
