"""CUDA sources, and what their declarations say.  Nothing here needs a GPU or CuPy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.cupy.kernels import squares

HERE = Path(__file__).parent
THREADS = 256  # of a block
MOST_BLOCKS = 65535

_REALS = {"float32": "float", "float64": "double"}
_TYPES = {
    "int": np.int32,
    "unsigned int": np.uint32,
    "unsigned long long": np.uint64,
    "unsigned char": np.uint8,
    "unsigned short": np.uint16,
    "float": np.float32,
    "double": np.float64,
}
_DECLARATION = re.compile(r"^KERNEL (\w+)\(([^)]*)\)", re.MULTILINE)
_INCLUDE = re.compile(r'^#include "(\w+\.cuh)"\n', re.MULTILINE)


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: its C type without const and *, and its name.

    Attributes:
        table: it points at the addresses of arrays, one for each parameter of a net, say.
        constant: the array, or the arrays whose addresses it has, are only read.
    """

    type: str
    pointer: bool
    table: bool
    constant: bool
    name: str

    def dtype(self, real: DTypeLike) -> DType:
        """Of the scalar, or of the arrays' values, where ``Real`` is ``real``."""
        return np.dtype(real if self.type == "Real" else _TYPES[self.type])

    @property
    def stars(self) -> str:
        return "*" * (self.pointer + self.table)


@dataclass(frozen=True)
class Kernel:
    """A kernel's declaration."""

    name: str
    file: str
    parameters: tuple[Argument, ...]

    @cached_property
    def pointers(self) -> tuple[bool, ...]:
        """Which arguments behind the first are arrays."""
        return tuple(p.pointer for p in self.parameters[1:])

    @property
    def by_rows(self) -> bool:
        """Whether a block serves a row, and not a thread an element."""
        return self.parameters[0].name == "rows"

    @property
    def by_tiles(self) -> bool:
        """Whether a block serves a tile, with exactly ``THREADS`` threads."""
        return self.parameters[0].name == "tiles"

    @property
    def waits(self) -> bool:
        """Whether threads of a block may wait for each other."""
        return self.by_rows or self.by_tiles

    def launch_size(self, n: int) -> tuple[int, int]:
        """Blocks, and threads of a block, for so many elements, rows or tiles."""
        blocks = n if self.waits else -(-n // THREADS)
        return max(1, min(blocks, MOST_BLOCKS)), THREADS

    def arguments(self, values: Sequence[DeviceArray], real: DTypeLike) -> tuple[DeviceArray, ...]:
        """The values as the declaration wants them: arrays as they are, numbers of its types."""
        if len(values) != len(self.parameters):
            names = ", ".join(p.name for p in self.parameters)
            raise TypeError(f"{self.name} takes ({names}), not {len(values)} arguments")
        pairs = zip(self.parameters, values, strict=True)
        return tuple(v if p.pointer else p.dtype(real).type(v) for p, v in pairs)


@cache
def source(file: str) -> str:
    """The text of a ``.cu`` file, with what it includes put in its place."""
    text = (HERE / file).read_text()
    return _INCLUDE.sub(lambda match: _included(match[1]), text)


def _included(file: str) -> str:
    return squares.text() if file == squares.FILE else (HERE / file).read_text()


def options(dtype: DTypeLike) -> tuple[str, ...]:
    """For the compiler: the number type."""
    return "--std=c++17", f"-DReal={_REALS[np.dtype(dtype).name]}"


def declarations(text: str, file: str = "") -> list[Kernel]:
    """The kernels that a source declares."""
    found = []
    for name, arguments in _DECLARATION.findall(text):
        parsed = []
        for argument in arguments.split(","):
            *words, last = argument.replace("*", " ").split()
            kind = " ".join(word for word in words if word != "const")
            depth, constant = argument.count("*"), words[0] == "const"
            parsed.append(Argument(kind, depth > 0, depth > 1, constant, last))
        found.append(Kernel(name, file, tuple(parsed)))
    return found


FILES = tuple(sorted(path.name for path in HERE.glob("*.cu")))
KERNELS = {kernel.name: kernel for file in FILES for kernel in declarations(source(file), file)}
