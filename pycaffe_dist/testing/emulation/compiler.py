"""Programs compiled by g++ into libraries, which are kept."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pycaffe_dist.errors import MissingPartError

FLAGS = ("-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-semantic-interposition")
JUMPING = ("-U_FORTIFY_SOURCE", "-fno-exceptions")  # from stack to stack, and out of kernels
LIKE_NVRTC = ("-ffp-contract=fast",)  # a·b + c is rounded once
FAST = ("-O2",)
# g++ calls a function before every access to memory: ours, not those of the library for threads.
WATCHED = ("-O1", "-g1", "-fsanitize=thread", "-nodefaultlibs")
LIBRARIES = ("-lm", "-lc", "-lgcc")


def compiled(program: str, watched: bool = False) -> Path:
    """The library of a program, from the cache or made now."""
    compiler, version = identity()
    flags = (*FLAGS, *JUMPING, *LIKE_NVRTC, *machine(), *(WATCHED if watched else FAST))
    key = hashlib.sha256("\0".join((program, version, *flags)).encode()).hexdigest()
    folder = _cache_folder()
    library = folder / f"{key[:32]}.so"
    if not library.exists():
        with open(library.with_suffix(".lock"), "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # one compiles, the others wait for it
            if not library.exists():
                _compile([compiler, *flags], program, library)
    return library


def _compile(command: Sequence[str], program: str, library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as work:
        source, made = Path(work, "kernels.cpp"), Path(work, "kernels.so")
        source.write_text(program)
        command = [*command, "-o", str(made), str(source), *LIBRARIES]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(f"{' '.join(command)} fails:\n{said.stderr}")
        made.replace(library)


@cache
def identity() -> tuple[str, str]:
    """The compiler's path, and what it says of itself."""
    path = shutil.which(os.environ.get("CXX", "g++"))
    if path is None:
        raise MissingPartError("the emulated GPU needs a C++ compiler: install g++, or set CXX")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    return path, said.stdout


@cache
def machine() -> tuple[str, ...]:
    """Multiplication and addition in one instruction, as all GPUs have it, where this CPU does."""
    try:
        facts = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ()
    return ("-mfma",) if " fma " in facts else ()


def _cache_folder() -> Path:
    """Where compiled kernels are kept; where that cannot be written, a folder of this process."""
    named = os.environ.get("PCD_CACHE")
    root = Path(named) if named else Path.home() / ".cache" / "pycaffe_dist"
    folder = root / "emulation"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _temporary()
    return folder if os.access(folder, os.W_OK) else _temporary()


@cache
def _temporary() -> Path:
    folder = tempfile.mkdtemp(prefix="pcd-emulation-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
