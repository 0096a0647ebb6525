"""CUDA kernels executed on the CPU: their source, a header that says what CUDA's words mean, g++.

    module = Module(kernels.source("neurons.cu"), kernels.options("float32"))
    module.get_function("relu_forward")((1,), (256,), (np.int32(n), np.float32(0), x, y))

Calls are those of ``cupy.RawModule``, and as strict as a GPU would have them be: arguments must
have exactly the types that the kernel declares.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pycaffe_dist.aliases import DType
from pycaffe_dist.engines.cupy.kernels import THREADS, Kernel, declarations
from pycaffe_dist.testing.emulation.checking import AccessError, Table, Watch
from pycaffe_dist.testing.emulation.compiler import compiled

__all__ = ["AccessError", "Function", "Module", "Table", "Way", "executed", "running"]

HEADERS = Path(__file__).parent
PROBLEMS = {
    1: "some threads of a block end while others wait at a barrier",
    2: "a kernel that is launched by elements has a barrier",
}
BAD_ACCESS = 3

executed: Counter[str] = Counter()  # by kernel, how often it was launched


@dataclass(frozen=True)
class Way:
    """How a grid is run: a GPU promises no order, and looks at no access.

    Args:
        backwards: the last block and the last thread of each interval first.
        checked: every access to memory is looked at, and the first that is wrong is an AccessError.
    """

    backwards: bool = False
    checked: bool = False


_way = Way()


@contextmanager
def running(way: Way) -> Iterator[None]:
    """Launches within go this way."""
    global _way
    before, _way = _way, way
    try:
        yield
    finally:
        _way = before


class Module:
    """A source, compiled once for each text, set of options and compiler."""

    def __init__(self, code: str, options: Sequence[str] = ()) -> None:
        defines = dict(o[2:].split("=", 1) for o in options if o.startswith("-D"))
        self.real = defines.get("Real", "float")
        self.dtype = np.dtype({"float": np.float32, "double": np.float64}[self.real])
        self._code = code
        self._kernels = {kernel.name: kernel for kernel in declarations(code)}
        self._libraries: dict[bool, Library] = {}
        self._functions: dict[str, Function] = {}
        self.library(_way.checked)

    def get_function(self, name: str) -> Function:
        if name not in self._functions:
            self._functions[name] = Function(self, self._kernels[name])
        return self._functions[name]

    def library(self, checked: bool) -> Library:
        if checked not in self._libraries:
            program = _program(self._code, self.real, self._kernels, checked)
            self._libraries[checked] = Library(program, self._kernels, checked)
        return self._libraries[checked]


class Library:
    """A program, compiled; one whose accesses are checked has a watch."""

    def __init__(self, program: str, kernels: Iterable[str], checked: bool) -> None:
        path = compiled(program, checked)
        self.functions = ctypes.CDLL(str(path))
        self.watch = Watch(self.functions, path, program, kernels) if checked else None


class Function:
    """A kernel, called as ``cupy.RawKernel`` is."""

    def __init__(self, module: Module, kernel: Kernel) -> None:
        self.kernel, self._module = kernel, module
        self.dtypes = [argument.dtype(module.dtype) for argument in kernel.parameters]
        scalars = [
            ctypes.c_void_p if argument.pointer else np.ctypeslib.as_ctypes_type(dtype)
            for argument, dtype in zip(kernel.parameters, self.dtypes, strict=True)
        ]
        self._types = [ctypes.c_uint, ctypes.c_uint, ctypes.c_bool, *scalars]
        self._entries: dict[bool, Any] = {}

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]) -> None:
        name, threads = self.kernel.name, block[0]
        if threads & (threads - 1) or not 0 < threads <= 256:
            raise ValueError(f"{name}: a block has a power of two up to 256 threads, not {threads}")
        if self.kernel.by_tiles and threads != THREADS:
            raise ValueError(f"{name}: a tile's block has {THREADS} threads, not {threads}")
        values = self._checked(args)
        executed[name] += 1
        way = _way
        entry = self._entry(way.checked)
        watch = self._module.library(way.checked).watch
        with watch.over(self.kernel, args) if watch else nullcontext():
            outcome = entry(grid[0], threads, way.backwards, *values)
            if outcome == BAD_ACCESS and watch:
                raise AccessError(watch.finding(self.kernel, args))
        if outcome:
            raise RuntimeError(f"{name}: {PROBLEMS[outcome]}")

    def _entry(self, checked: bool) -> Any:
        if checked not in self._entries:
            library = self._module.library(checked).functions
            entry = self._entries[checked] = library[f"launch_{self.kernel.name}"]
            entry.argtypes = self._types
        return self._entries[checked]

    def _checked(self, args: Sequence[Any]) -> list[Any]:
        declared = zip(self.kernel.parameters, self.dtypes, args, strict=True)
        return [
            self._pointer(p, d, a) if p.pointer else self._number(p, d, a) for p, d, a in declared
        ]

    def _pointer(self, argument: Any, dtype: DType, array: Any) -> int:
        if argument.table:
            if not isinstance(array, Table):
                raise TypeError(f"{self._at(argument)} is a table of addresses, not {array!r}")
            array, dtype = array.addresses, np.dtype(np.uint64)
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


def _program(code: str, real: str, kernels: dict[str, Kernel], checked: bool) -> str:
    """The headers, the source, and a function for each kernel that launches it."""
    parts = [(HEADERS / "cuda_emulation.h").read_text(), f"#define Real {real}", code]
    if checked:
        parts.insert(1, (HEADERS / "memory_check.h").read_text())
        parts.insert(0, "#define CHECK_MEMORY")
    for kernel in kernels.values():
        declared = ", ".join(
            f"{'const ' * a.constant}{a.type} {'*const ' * a.table}{'*' * a.pointer}{a.name}"
            for a in kernel.parameters
        )
        names = ", ".join(a.name for a in kernel.parameters)
        waiting = "true" if kernel.waits else "false"
        parts.append(
            'extern "C" __attribute__((visibility("default"))) int '
            f"launch_{kernel.name}(unsigned blocks_, unsigned threads_, bool reversed_, {declared})"
            f" {{\n  auto kernel_ = [=] {{ {kernel.name}({names}); }};\n"
            f"  return emulation::launch(blocks_, threads_, {waiting}, reversed_, kernel_);\n}}"
        )
    return "\n".join(parts)
