"""A stand-in for CuPy: the parts of it that the engine uses, on NumPy's memory.

Arrays refuse to be mixed with the host's, streams and events are checked for order, memory comes
from a pool that counts, and raw kernels run as C++ compiled for the CPU.  ``COUNTS`` tells how
often the host waited, what was copied, and how much memory was asked for.  Every name here is also
in the real package (tests/gpu/test_standin.py), but for ``COUNTS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import bool_, float16, float32, float64, int8, int16, int32, int64, intp, uint8, uint32

from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.array import lift, ndarray, own, touch
from pycaffe_dist.testing.cupy_standin.cuda import cublas as _cublas  # noqa: F401
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.kernels import RawKernel, RawModule
from pycaffe_dist.testing.cupy_standin.memory import COUNTS, POOL, RaceError

__all__ = [
    "COUNTS",
    "RaceError",
    "RawKernel",
    "RawModule",
    "bool_",
    "cuda",
    "float16",
    "float32",
    "float64",
    "get_default_memory_pool",
    "int8",
    "int16",
    "int32",
    "int64",
    "intp",
    "ndarray",
    "stack",
    "uint8",
    "uint32",
]

__version__ = "stand-in"


class ufunc:
    """A function of single numbers."""

    def __init__(self, plain: np.ufunc) -> None:
        self._plain = plain
        self.__name__ = plain.__name__

    def __call__(self, *args: Given, **kwargs: Given) -> Any:
        return lift(self._plain, self.__name__, *args, **kwargs)

    def at(self, a: ndarray, indices: Given, b: Given = None) -> None:
        reads = [x for x in (indices, b) if isinstance(x, ndarray)]
        touch(cuda.get_current_stream(), f"{self.__name__}.at", reads, [a])
        plain = [x._host if isinstance(x, ndarray) else x for x in (indices, b)]
        self._plain.at(a._host, *plain)


UFUNCS = [
    "absolute",
    "add",
    "cos",
    "divide",
    "equal",
    "exp",
    "floor",
    "fmax",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "power",
    "reciprocal",
    "sign",
    "sin",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "trunc",
]
FUNCTIONS = [
    "argsort",
    "bincount",
    "copyto",
    "cumsum",
    "einsum",
    "empty_like",
    "flatnonzero",
    "full_like",
    "moveaxis",
    "sum",
    "take",
    "take_along_axis",
    "vdot",
    "where",
]
WAITS = {"bincount", "flatnonzero"}  # the values decide on the shape

for _name in UFUNCS:
    globals()[_name] = ufunc(getattr(np, _name))


def _function(name: str) -> Any:
    plain = getattr(np, name)

    def function(*args: Given, **kwargs: Given) -> Any:
        if name in WAITS:
            COUNTS["synchronise"] += 1
        return lift(plain, name, *args, **kwargs)

    function.__name__ = name
    return function


for _name in FUNCTIONS:
    globals()[_name] = _function(_name)


def matmul(a: ndarray, b: ndarray, out: ndarray | None = None) -> Any:
    """As CuPy makes it of more than two axes, which costs more than the product.

    Operands that are not contiguous are copied.  Where one is broadcast, three arrays of pointers
    are made, by two kernels each.
    """
    if max(a.ndim, b.ndim) > 2:
        for x in (a, b):
            if not x.flags.c_contiguous:
                COUNTS["copy"] += 1
                touch(cuda.get_current_stream(), "ascontiguousarray", [x])
        if a.shape[:-2] != b.shape[:-2]:
            COUNTS["launch"] += 6
            touch(cuda.get_current_stream(), "pointers")
    COUNTS["matmul"] += 1
    return lift(np.matmul, "matmul", a, b, out=out)


def stack(arrays: Sequence[ndarray], axis: int = 0) -> Any:
    return lift(lambda *parts: np.stack(parts, axis), "stack", *arrays)


# -- creation --------------------------------------------------------------------------------------


def empty(shape: Given, dtype: Given = float, order: str = "C") -> ndarray:
    """Filled with bytes that read as NaN, so that reading what nobody wrote shows."""
    made = own(np.empty(shape, dtype))
    made._host.reshape(-1).view(np.uint8)[...] = 0xFF
    return made


def zeros(shape: Given, dtype: Given = float, order: str = "C") -> ndarray:
    made = own(np.zeros(shape, dtype))
    touch(cuda.get_current_stream(), "zeros", writes=[made])
    return made


def ones(shape: Given, dtype: Given = float, order: str = "C") -> ndarray:
    made = own(np.ones(shape, dtype))
    touch(cuda.get_current_stream(), "ones", writes=[made])
    return made


def arange(start: Given, stop: Given = None, step: Given = 1, dtype: Given = None) -> ndarray:
    first, last = (0, start) if stop is None else (start, stop)
    made = own(np.arange(first, last, step, dtype=dtype))
    touch(cuda.get_current_stream(), "arange", writes=[made])
    return made


def asarray(
    a: Given,
    dtype: Given = None,
    order: Given = None,
    *,
    copy: Given = None,
    blocking: bool = False,
) -> ndarray:
    """From the host: a copy that the host waits for."""
    if isinstance(a, ndarray):
        return a if dtype in (None, a.dtype) else lift(np.ndarray.astype, "astype", a, dtype)
    COUNTS["to_device"] += 1
    COUNTS["synchronise"] += 1
    made = own(np.array(a, dtype))
    touch(cuda.get_current_stream(), "copy to device", writes=[made])
    return made


def get_default_memory_pool() -> Any:
    return POOL


def _as_strided(x: ndarray, shape: Given = None, strides: Given = None) -> ndarray:
    host = np.lib.stride_tricks.as_strided(x._host, shape, strides)
    return ndarray(host, x._memory)


lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=_as_strided))
