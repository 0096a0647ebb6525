"""``RawModule`` and ``RawKernel`` of the stand-in: the kernels' own source, for the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pycaffe_dist.testing import emulation
from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.array import ndarray, touch
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.memory import COUNTS


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
        self._constant = [p.constant for p in function.kernel.parameters]

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
        for argument, constant in zip(args, self._constant, strict=True):
            if isinstance(argument, ndarray):
                (reads if constant else writes).append(argument)
        touch(cuda.get_current_stream(), self.name, reads, writes)
        plain = [a._host if isinstance(a, ndarray) else a for a in args]
        self._function(grid, block, plain)


@cache
def compiled(code: str, options: tuple[str, ...]) -> emulation.Module:
    return emulation.Module(code, options)
