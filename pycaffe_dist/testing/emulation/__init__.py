"""CUDA kernels executed on the CPU: their source, a header that says what CUDA's words mean, g++.

    module = Module(kernels.source("neurons.cu"), kernels.options("float32"))
    module.get_function("relu_forward")((1,), (256,), (np.int32(n), np.float32(0), x, y))

Calls are those of ``cupy.RawModule``, and as strict as a GPU would have them be: arguments must
have exactly the types that the kernel declares.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pycaffe_dist.aliases import DType
from pycaffe_dist.engines.cupy.kernels import Kernel, declarations
from pycaffe_dist.errors import MissingPartError

HEADER = Path(__file__).with_name("cuda_emulation.h")
FLAGS = ("-O2", "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", "-U_FORTIFY_SOURCE")
EXACT = ("-ffp-contract=off", "-fno-semantic-interposition")  # NumPy's rounding; our own functions
PROBLEMS = {
    1: "some threads of a block end while others wait at a barrier",
    2: "a kernel that is launched by elements has a barrier",
}

executed: Counter[str] = Counter()  # by kernel, how often it was launched


class Module:
    """A source, compiled once for each text, set of options and compiler."""

    def __init__(self, code: str, options: Sequence[str] = ()) -> None:
        defines = dict(o[2:].split("=", 1) for o in options if o.startswith("-D"))
        real = defines.get("Real", "float")
        self.dtype = np.dtype({"float": np.float32, "double": np.float64}[real])
        self._kernels = {kernel.name: kernel for kernel in declarations(code)}
        self._library = ctypes.CDLL(str(_compiled(_program(code, real, self._kernels))))
        self._functions: dict[str, Function] = {}

    def get_function(self, name: str) -> Function:
        if name not in self._functions:
            kernel = self._kernels[name]
            self._functions[name] = Function(self._library[f"launch_{name}"], kernel, self.dtype)
        return self._functions[name]


class Function:
    """A kernel, called as ``cupy.RawKernel`` is."""

    def __init__(self, function: Any, kernel: Kernel, real: DType) -> None:
        self.kernel, self._function = kernel, function
        self._dtypes = [argument.dtype(real) for argument in kernel.parameters]
        scalars = [
            ctypes.c_void_p if argument.pointer else np.ctypeslib.as_ctypes_type(dtype)
            for argument, dtype in zip(kernel.parameters, self._dtypes, strict=True)
        ]
        function.argtypes = [ctypes.c_uint, ctypes.c_uint, *scalars]

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]) -> None:
        name, threads = self.kernel.name, block[0]
        if threads & (threads - 1) or not 0 < threads <= 256:
            raise ValueError(f"{name}: a block has a power of two up to 256 threads, not {threads}")
        executed[name] += 1
        outcome = self._function(grid[0], threads, *self._checked(args))
        if outcome:
            raise RuntimeError(f"{name}: {PROBLEMS[outcome]}")

    def _checked(self, args: Sequence[Any]) -> list[Any]:
        declared = zip(self.kernel.parameters, self._dtypes, args, strict=True)
        return [
            self._pointer(p, d, a) if p.pointer else self._number(p, d, a) for p, d, a in declared
        ]

    def _pointer(self, argument: Any, dtype: DType, array: Any) -> int:
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise TypeError(f"{self._at(argument)} is an array of {dtype}, not {kind}")
        if not array.flags.c_contiguous:
            raise TypeError(f"{self._at(argument)} must be contiguous, found {array.strides}")
        if not (argument.constant or array.flags.writeable):
            raise TypeError(f"{self._at(argument)} is written to, but the array is not writeable")
        return array.ctypes.data

    def _number(self, argument: Any, dtype: DType, value: Any) -> Any:
        if not isinstance(value, np.generic) or value.dtype != dtype:
            raise TypeError(f"{self._at(argument)} is a {dtype}, not {value!r}")
        return value.item()

    def _at(self, argument: Any) -> str:
        return f"{self.kernel.name}: {argument.name}"


def _program(code: str, real: str, kernels: dict[str, Kernel]) -> str:
    """The header, the source, and a function for each kernel that launches it."""
    parts = [HEADER.read_text(), f"#define Real {real}", code]
    for kernel in kernels.values():
        declared = ", ".join(
            f"{'const ' * a.constant}{a.type} {'*' * a.pointer}{a.name}" for a in kernel.parameters
        )
        names = ", ".join(a.name for a in kernel.parameters)
        waiting = "true" if kernel.by_rows else "false"
        parts.append(
            'extern "C" __attribute__((visibility("default"))) int '
            f"launch_{kernel.name}(unsigned int blocks_, unsigned int threads_, {declared}) {{\n"
            f"  auto kernel_ = [=] {{ {kernel.name}({names}); }};\n"
            f"  return emulation::launch(blocks_, threads_, {waiting}, kernel_);\n}}"
        )
    return "\n".join(parts)


def _compiled(program: str) -> Path:
    """The library of a program, from the cache or made now."""
    compiler, version = _compiler()
    key = hashlib.sha256("\0".join((program, version, *FLAGS, *EXACT)).encode()).hexdigest()
    folder = _cache_folder()
    library = folder / f"{key[:32]}.so"
    if not library.exists():
        with open(library.with_suffix(".lock"), "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # one compiles, the others wait for it
            if not library.exists():
                _compile(compiler, program, library)
    return library


def _compile(compiler: str, program: str, library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as work:
        source, made = Path(work, "kernels.cpp"), Path(work, "kernels.so")
        source.write_text(program)
        command = [compiler, *FLAGS, *EXACT, "-o", str(made), str(source)]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(f"{' '.join(command)} fails:\n{said.stderr}")
        made.replace(library)


@cache
def _compiler() -> tuple[str, str]:
    path = shutil.which(os.environ.get("CXX", "g++"))
    if path is None:
        raise MissingPartError("the emulated GPU needs a C++ compiler: install g++, or set CXX")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    return path, said.stdout


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
