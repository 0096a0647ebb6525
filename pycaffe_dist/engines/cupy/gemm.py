"""Matrix products by cuBLAS, of arrays as they lie: nothing is copied, nothing else is launched."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from pycaffe_dist.aliases import ArrayModule, DeviceArray, DType

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
    """The products of one device."""

    def __init__(self, xp: ArrayModule) -> None:
        self.xp = xp
        self._cublas = xp.cuda.cublas
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

    @staticmethod
    def precision(dtype: DType) -> str:
        """Of products of such numbers: "tf32" where their factors may be rounded to it."""
        return "tf32" if dtype == np.float32 and rounds() else dtype.name

    def __call__(self, a: DeviceArray, b: DeviceArray, out: DeviceArray, add: bool = False) -> None:
        """out = a b, or out += a b, of matrices or of stacks of them.

        A factor of a stack may be one for all.  cuBLAS has matrices by columns, and sees ours
        transposed: it is asked for outᵀ = bᵀ aᵀ.
        """
        a, b, out = (x[None] if x.ndim == 2 else x for x in (a, b, out))
        (count, m, n), k = out.shape, a.shape[2]
        if not a.size or not b.size:  # an empty sum; cuBLAS refuses matrices without rows
            if not add:
                out.fill(0)
            return
        first, second, result = _Stack.of(b), _Stack.of(a), _Stack.of(out)
        if result.transposed:
            raise ValueError(f"out is by columns: {out.shape} with the strides {out.strides}")
        single, batched = self._functions[out.dtype.char]
        numbers = self._numbers[out.dtype.char]
        alpha, beta = (numbers[i:].ctypes.data for i in (1, int(add)))
        handle = self.xp.cuda.get_cublas_handle()
        sizes: tuple[Any, ...] = (handle, first.transposed, second.transposed, n, m, k, alpha)
        if count == 1:
            single(*sizes, *first[::2], *second[::2], beta, *result[::2])
            return
        batched(
            *(*sizes, first.where, *first[2:], second.where, *second[2:]),
            *(beta, result.where, *result[2:], count),
        )
