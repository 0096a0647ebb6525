"""``RawModule`` and ``RawKernel`` of the stand-in: the kernels' own source, for the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from pycaffe_dist.aliases import DType
from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.array import ndarray, touch
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.memory import COUNTS, memory_around


class RawModule:
    """A source.  It is compiled when its first function is asked for, as CuPy does it."""

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
    ) -> None:
        if code is None or path is not None or backend != "nvrtc":
            raise ValueError("the stand-in takes the code itself, for nvrtc")
        if not isinstance(options, tuple):
            raise TypeError("options must be a tuple")
        own = [o for o in options if o.startswith(("-arch", "--gpu-architecture", "-ftz", "--ftz"))]
        if own:
            raise ValueError(f"CuPy puts its own behind {own}, which then mean nothing")
        self.code, self.options = code, options

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(compiled(self.code, self.options).get_function(name))


class RawKernel:
    """A kernel; called, it runs on the current stream."""

    def __init__(self, function: emulation.Function) -> None:
        self._function = function
        self.name = function.kernel.name

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Given],
        *,
        shared_mem: int = 0,
    ) -> None:
        COUNTS["launch"] += 1
        reads: list[ndarray] = []
        writes: list[ndarray] = []
        plain: list[Given] = []
        declared = zip(self._function.kernel.parameters, self._function.dtypes, args, strict=True)
        for parameter, dtype, argument in declared:
            plain.append(argument._host if isinstance(argument, ndarray) else argument)
            given = [argument] if isinstance(argument, ndarray) else []
            if parameter.table and given:
                reads += given
                given = [_array_at(int(address), dtype) for address in argument._host]
                plain[-1] = emulation.Table(argument._host, [a._host for a in given])
            (reads if parameter.constant else writes).extend(given)
        touch(cuda.get_current_stream(), self.name, reads, writes)
        self._function(grid, block, plain)


def _array_at(address: int, dtype: DType) -> ndarray:
    """What is from an address on, as far as the memory goes."""
    memory = memory_around(address)
    count = (memory.begin + memory.size - address) // dtype.itemsize
    kind = np.ctypeslib.as_ctypes_type(dtype)
    return ndarray(np.ctypeslib.as_array((kind * count).from_address(address)), memory)


@cache
def compiled(code: str, options: tuple[str, ...]) -> emulation.Module:
    return emulation.Module(code, options)
