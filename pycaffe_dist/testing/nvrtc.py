"""NVIDIA's compiler as a library: CUDA source is checked where there is no GPU and no driver."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pycaffe_dist.errors import MissingPartError

_SUCCESS = 0
TELL_NEEDS = "--ptxas-options=-v"  # the option by which the log has what `needs` reads
_NEEDS = re.compile(
    r"entry function '(\w+)'.*\n.*\n\D*(\d+) bytes stack frame, (\d+) bytes spill stores.*\n"
    r"\D*(\d+) registers(?:.*?(\d+) bytes smem)?"
)


class Multiprocessor(NamedTuple):
    """What blocks that run at the same time share."""

    threads: int
    shared: int  # bytes
    registers: int = 65536


MULTIPROCESSORS = {
    "sm_70": Multiprocessor(2048, 96 << 10),
    "sm_80": Multiprocessor(2048, 164 << 10),
    "sm_90": Multiprocessor(2048, 228 << 10),
    "sm_120": Multiprocessor(1536, 100 << 10),
}


class Needs(NamedTuple):
    """What a kernel takes."""

    stack: int  # bytes of local memory
    spilled: int  # bytes of registers that are brought there
    registers: int  # of a thread
    shared: int  # bytes, of a block

    def blocks(self, of: Multiprocessor, threads: int) -> int:
        """How many blocks run on a multiprocessor at a time."""
        registers = -(-self.registers // 8) * 8 * threads  # they are given out by eights
        shared = self.shared + 1024  # the system's own
        return min(of.registers // registers, of.shared // shared, of.threads // threads)


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The library of the wheel nvidia-cuda-nvrtc-cu12 (or a later one)."""
    spec = importlib.util.find_spec("nvidia")
    places = (spec.submodule_search_locations or []) if spec else []
    for place in places:
        for path in sorted(Path(place).glob("*/lib/libnvrtc.so.*")):
            if "builtins" not in path.name and "alt" not in path.name:
                return ctypes.CDLL(str(path))
    raise MissingPartError(
        "NVRTC, which compiles the CUDA kernels, is not installed: pip install 'pycaffe_dist[dev]'"
    )


def version() -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compile(source: str, name: str, architecture: str, options: Sequence[str]) -> tuple[str, bytes]:
    """What the compiler says, and the machine code (empty if it fails), for such as ``sm_80``."""
    program = ctypes.c_void_p()
    _call(
        "nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), 0, None, None
    )
    try:
        given = [f"--gpu-architecture={architecture}", *options]
        flags = (ctypes.c_char_p * len(given))(*(option.encode() for option in given))
        failed = library().nvrtcCompileProgram(program, len(given), flags) != _SUCCESS
        log = _text("ProgramLog", program).rstrip(b"\0").decode().strip()
        if failed:
            return log or "failed, and nothing was said", b""
        return log, _text("CUBIN", program)
    finally:
        _call("nvrtcDestroyProgram", ctypes.byref(program))


def needs(log: str) -> dict[str, Needs]:
    """By kernel, what the log of ``TELL_NEEDS`` says."""
    return {name: Needs(*(int(n or 0) for n in found)) for name, *found in _NEEDS.findall(log)}


def without_needs(log: str) -> str:
    """The rest of that log: errors and warnings."""
    told = re.compile("ptxas info |ptxas  +\\.")
    return "\n".join(line for line in log.splitlines() if not told.match(line))


def _text(what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
    room = ctypes.create_string_buffer(size.value)
    _call(f"nvrtcGet{what}", program, room)
    return room.raw


def _call(function: str, *arguments: object) -> None:
    status = getattr(library(), function)(*arguments)
    if status != _SUCCESS:
        raise RuntimeError(f"{function} says {status}")
