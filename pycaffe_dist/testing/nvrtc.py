"""NVIDIA's compiler as a library: CUDA source is checked where there is no GPU and no driver."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from pycaffe_dist.errors import MissingPartError

_SUCCESS = 0


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
