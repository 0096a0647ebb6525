"""``cupy.cuda.cublas`` of the stand-in: products of matrices that are told by their addresses.

Matrices are stored by columns: element (i, j) of one is at i + j·ld.
"""

from __future__ import annotations

import ctypes

import numpy as np

from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.array import ndarray, touch
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.memory import COUNTS, memory_at

CUBLAS_OP_N, CUBLAS_OP_T = 0, 1
CUBLAS_DEFAULT_MATH = 0

_modes: dict[int, int] = {}  # by handle


class CUBLASError(RuntimeError):
    """What CuPy raises for an error of cuBLAS."""


def setMathMode(handle: int, mode: int) -> None:
    _modes[handle] = mode


def getMathMode(handle: int) -> int:
    return _modes.get(handle, CUBLAS_DEFAULT_MATH)


def _single(kind: str) -> Given:
    def gemm(
        handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int,
        A: int, lda: int, B: int, ldb: int, beta: int, C: int, ldc: int,
    ) -> None:  # fmt: skip
        factors = (transa, A, lda, 0), (transb, B, ldb, 0)
        _product(kind, handle, (m, n, k), factors, (alpha, beta), (C, ldc, 0), 1)

    return gemm


def _batched(kind: str) -> Given:
    def gemmStridedBatched(
        handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int,
        A: int, lda: int, strideA: int, B: int, ldb: int, strideB: int,
        beta: int, C: int, ldc: int, strideC: int, batchCount: int,
    ) -> None:  # fmt: skip
        factors = (transa, A, lda, strideA), (transb, B, ldb, strideB)
        out = C, ldc, strideC
        _product(kind, handle, (m, n, k), factors, (alpha, beta), out, batchCount)

    return gemmStridedBatched


def gemmEx(
    handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int,
    A: int, Atype: int, lda: int, B: int, Btype: int, ldb: int, beta: int,
    C: int, Ctype: int, ldc: int, computeType: int, algo: int,
) -> None:  # fmt: skip
    factors = (transa, A, lda, 0), (transb, B, ldb, 0)
    form = _format(Atype, Btype, Ctype, computeType)
    _product("f", handle, (m, n, k), factors, (alpha, beta), (C, ldc, 0), 1, form)


def gemmStridedBatchedEx(
    handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int,
    A: int, Atype: int, lda: int, strideA: int, B: int, Btype: int, ldb: int, strideB: int,
    beta: int, C: int, Ctype: int, ldc: int, strideC: int, batchCount: int,
    computeType: int, algo: int,
) -> None:  # fmt: skip
    factors = (transa, A, lda, strideA), (transb, B, ldb, strideB)
    form, out = _format(Atype, Btype, Ctype, computeType), (C, ldc, strideC)
    _product("f", handle, (m, n, k), factors, (alpha, beta), out, batchCount, form)


def _format(a: int, b: int, c: int, compute: int) -> str:
    """The factors' format, of those that cuBLAS has products with fp32 results for."""
    if a != b or (a, c, compute) not in _FORMATS:
        raise CUBLASError(f"CUBLAS_STATUS_NOT_SUPPORTED: types {a}, {b}, {c}, compute {compute}")
    name = _FORMATS[a, c, compute]
    capability = int(cuda.Device().compute_capability)
    if capability < (80 if name in ("tf32", "bf16") else 53):
        raise CUBLASError(f"CUBLAS_STATUS_ARCH_MISMATCH: {name} on {capability}")
    return name


sgemm, dgemm = _single("f"), _single("d")
sgemmStridedBatched, dgemmStridedBatched = _batched("f"), _batched("d")


def _product(
    kind: str,
    handle: int,
    sizes: tuple[int, int, int],
    factors: tuple[tuple[int, int, int, int], ...],
    numbers: tuple[int, int],
    out: tuple[int, int, int],
    count: int,
    form: str = "",
) -> None:
    """C = α op(A) op(B) + β C, seen by rows: Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ."""
    if handle != cuda.get_cublas_handle():
        raise CUBLASError("CUBLAS_STATUS_NOT_INITIALIZED: the handle is another thread's")
    m, n, k = sizes
    stored = _STORED.get(form, kind)
    (right, left), result = (
        (_seen(stored, f, at, count) for f, at in zip(factors, ((m, k), (k, n)), strict=True)),
        _seen(kind, (CUBLAS_OP_N, *out), (m, n), count),
    )
    alpha, beta = (np.ctypeslib.as_array((_C[kind] * 1).from_address(p))[0] for p in numbers)
    COUNTS["gemm"] += 1
    reads = [left, right] + ([result] if beta else [])
    touch(cuda.get_current_stream(), f"gemm {form}".strip(), reads, [result])
    _compute(left._host, right._host, result._host, alpha, beta, form)


def _compute(
    left: Given, right: Given, result: Given, alpha: float, beta: float, form: str
) -> None:
    product = np.matmul(_numbers(left, form), _numbers(right, form)) * alpha
    result[...] = product + beta * result if beta else product


_C: dict[str, Given] = {"f": ctypes.c_float, "d": ctypes.c_double, "H": ctypes.c_uint16}

# By types of the factors and the result, and what is computed in: CUDA's numbers.
_FORMATS = {(0, 0, 68): "", (0, 0, 77): "tf32", (2, 0, 68): "fp16", (14, 0, 68): "bf16"}
_STORED = {"fp16": "H", "bf16": "H"}


def _numbers(x: Given, form: str) -> Given:
    """A factor as the tensor cores see it."""
    if form == "fp16":
        return x.view(np.float16).astype(np.float32)
    if form == "bf16":
        return (x.astype(np.uint32) << 16).view(np.float32)
    if form == "tf32":  # to 10 bits behind the leading one, ties away from zero
        bits = x.astype(np.float32).view(np.uint32)
        return ((bits + 0x1000) & 0xFFFFE000).view(np.float32)
    return x


def _seen(
    kind: str, matrix: tuple[int, int, int, int], shape: tuple[int, int], count: int
) -> ndarray:
    """op(M)ᵀ for each of a stack, as an array by rows; one matrix if it serves all."""
    op, where, ld, step = matrix
    stored = shape if op == CUBLAS_OP_N else shape[::-1]
    if ld < max(1, stored[0]):
        raise CUBLASError(f"CUBLAS_STATUS_INVALID_VALUE: ld {ld} of a matrix of {stored[0]} rows")
    size = np.dtype(kind).itemsize
    number = count if step else 1
    last = (number - 1) * step + (stored[1] - 1) * ld + stored[0]
    memory = memory_at(where, last * size)
    flat = np.ctypeslib.as_array((_C[kind] * last).from_address(where))
    strides = step * size, ld * size, size
    by_rows = np.lib.stride_tricks.as_strided(flat, (number, *stored[::-1]), strides)
    return ndarray(by_rows if op == CUBLAS_OP_N else by_rows.swapaxes(1, 2), memory)
