"""Matrix products by cuBLAS, of arrays as they lie.

Nothing is copied and nothing else is launched, unless factors are to be rounded to 16 bits first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from pycaffe_dist.aliases import ArrayModule, DeviceArray, DType
from pycaffe_dist.engines.cupy.home import BITS, DeviceHome, Halves
from pycaffe_dist.engines.cupy.precision import FORMATS, GEMM_DEFAULT, R_32F
from pycaffe_dist.memory import Value

TF32 = "CUPY_TF32"  # CuPy's variable: 1 lets tensor cores round factors to 10 bits
TF32_MATH = 3  # CUBLAS_TF32_TENSOR_OP_MATH, for which CuPy has no name
_LETTERS = {"f": "s", "d": "d"}


def rounds() -> bool:
    """Whether the user lets tensor cores round."""
    return os.environ.get(TF32) == "1"


class _Stack(NamedTuple):
    """Matrices as cuBLAS is told of them."""

    where: int
    transposed: bool
    ld: int  # values from one row, or column, to the next
    step: int  # values from one matrix to the next; 0: there is one, for all

    @staticmethod
    def of(x: DeviceArray) -> _Stack:
        """(count, rows, columns), whose rows or columns are runs of values."""
        count, rows, columns = x.shape
        step, down, right = (stride // x.itemsize for stride in x.strides)
        if right == 1 or columns == 1:
            transposed, ld = False, columns if rows == 1 else down
        else:
            transposed, ld = True, rows if columns == 1 else right
            if down != 1 and rows > 1:
                raise ValueError(f"a matrix of {x.shape} with the strides {x.strides}")
        return _Stack(x.data.ptr, transposed, ld, step if count > 1 else 0)


class Products:
    """The products of one device, in one number format.

    Args:
        home: where factors are.
        launch: launches a kernel, which rounds factors.
        precision: of products of float32 arrays; those of float64 are as they are.
    """

    def __init__(
        self, home: DeviceHome, launch: Callable[..., None], precision: str = "fp32"
    ) -> None:
        xp: ArrayModule = home.xp
        self.xp, self.home, self._launch, self._name = xp, home, launch, precision
        self._halves = Halves(home, self._round)
        self._values: Sequence[Value] = ()
        self._cublas = xp.cuda.cublas
        self._format = FORMATS[precision]
        self._rooms: dict[tuple[str, int], DeviceArray] = {}
        self._numbers = {char: np.array([0, 1], char) for char in _LETTERS}
        self._functions = {
            char: (
                getattr(self._cublas, f"{s}gemm"),
                getattr(self._cublas, f"{s}gemmStridedBatched"),
            )
            for char, s in _LETTERS.items()
        }

    def enter(self) -> None:
        """Tell this thread's handle whether tensor cores may round: all products ask the handle."""
        if rounds():
            self._cublas.setMathMode(self.xp.cuda.get_cublas_handle(), TF32_MATH)

    def precision(self, dtype: DType) -> str:
        """Of products of such numbers: what their factors may be rounded to."""
        if dtype != np.float32:
            return dtype.name
        if self._name == "fp32":
            return "tf32" if rounds() else dtype.name
        return self._name

    def __call__(self, a: DeviceArray, b: DeviceArray, out: DeviceArray, add: bool = False) -> None:
        """out = a b, or out += a b, of matrices or of stacks of them.

        A factor of a stack may be one for all.  cuBLAS has matrices by columns, and sees ours
        transposed: it is asked for outᵀ = bᵀ aᵀ.
        """
        a, b, out = (x[None] if x.ndim == 2 else x for x in (a, b, out))
        k = a.shape[2]
        if not a.size or not b.size:  # an empty sum; cuBLAS refuses matrices without rows
            if not add:
                out.fill(0)
            return
        a, b = self.rounded(a, "left"), self.rounded(b, "right")
        first, second, result = _Stack.of(b), _Stack.of(a), _Stack.of(out)
        if result.transposed:
            raise ValueError(f"out is by columns: {out.shape} with the strides {out.strides}")
        numbers = self._numbers[out.dtype.char]
        alpha, beta = (numbers[i:].ctypes.data for i in (1, int(add)))
        handle, (count, m, n) = self.xp.cuda.get_cublas_handle(), out.shape
        sizes: tuple[Any, ...] = (handle, first.transposed, second.transposed, n, m, k, alpha)
        if self._name != "fp32" and out.dtype.char == "f":
            self._by_format(sizes, first, second, beta, result, count)
            return
        single, batched = self._functions[out.dtype.char]
        if count == 1:
            single(*sizes, *first[::2], *second[::2], beta, *result[::2])
            return
        batched(
            *(*sizes, first.where, *first[2:], second.where, *second[2:]),
            *(beta, result.where, *result[2:], count),
        )

    def _by_format(
        self,
        sizes: tuple[Any, ...],
        first: _Stack,
        second: _Stack,
        beta: int,
        result: _Stack,
        count: int,
    ) -> None:
        """Factors of the format's type; the result is of fp32."""
        form = self._format
        how = form.compute, GEMM_DEFAULT
        if count == 1:
            factors = [x for f in (first, second) for x in (f.where, form.type, f.ld)]
            self._cublas.gemmEx(*sizes, *factors, beta, result.where, R_32F, result.ld, *how)
            return
        factors = [x for f in (first, second) for x in (f.where, form.type, f.ld, f.step)]
        out = result.where, R_32F, *result[2:]
        self._cublas.gemmStridedBatchedEx(*sizes, *factors, beta, *out, count, *how)

    # -- factors in 16 bits ------------------------------------------------------------------

    def columns(self, dtype: DType) -> tuple[DType, str]:
        """The type in which columns are made, and how the kernel's name ends that makes them."""
        return (
            (BITS, self._format.ending) if self._format.cast and dtype.char == "f" else (dtype, "")
        )

    @contextmanager
    def of(self, values: Sequence[Value]) -> Iterator[None]:
        """Factors that are these values, or parts of them, are rounded once and kept with them."""
        self._values = values if self._format.cast else ()
        try:
            yield
        finally:
            self._values = ()

    def _kept(self, x: DeviceArray) -> DeviceArray:
        """What is kept of a factor in a row; None: it is none of the values."""
        for value in self._values:
            if self.home in value.current and value.dtype == x.dtype:
                whole: DeviceArray = value.read(self.home)
                begin = (x.data.ptr - whole.data.ptr) // x.itemsize
                if 0 <= begin <= value.count - x.size:
                    return value.read(self._halves)[begin:][: x.size].reshape(x.shape)
        return None

    def rounded(self, x: DeviceArray, side: str) -> DeviceArray:
        """A factor as it is multiplied: itself, or its bits in 16, until the next on its side.

        Matrices that lie by columns do so afterwards.
        """
        if not self._format.cast or x.dtype.char != "f":
            return x
        if x.flags.c_contiguous:
            return self._cast(x, side)
        turned = x.swapaxes(-1, -2)
        if turned.flags.c_contiguous:
            return self._cast(turned, side).swapaxes(-1, -2)
        return self._cast(self.xp.ascontiguousarray(x), side)

    def _cast(self, x: DeviceArray, side: str) -> DeviceArray:
        kept = self._kept(x)
        if kept is not None:
            return kept
        key = side, self.xp.cuda.get_current_stream().ptr  # streams do not wait for each other
        room = self._rooms.get(key)
        if room is None or room.size < x.size:
            room = self._rooms[key] = self.xp.empty(x.size, np.uint16)
        bits = room[: x.size].reshape(x.shape)
        self._round(x, bits)
        return bits

    def _round(self, x: DeviceArray, bits: DeviceArray) -> None:
        self._launch(self._format.cast, x.dtype, x.size, x, bits)
