"""``cupy.cublas`` of the stand-in."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.testing.cupy_standin import cuda
from pycaffe_dist.testing.cupy_standin.array import ndarray, touch
from pycaffe_dist.testing.cupy_standin.given import Given


def gemm(
    transa: str,
    transb: str,
    a: ndarray,
    b: ndarray,
    out: ndarray | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> ndarray:
    """out = alpha op(a) op(b) + beta out."""
    if out is None or (transa, transb) != ("N", "N"):
        raise ValueError("the stand-in multiplies matrices as they are, into one that is given")
    for x in (a, b, out):
        if x.ndim != 2 or x.dtype != out.dtype or not _fits(x):
            raise ValueError(f"gemm of {x.shape} {x.dtype} with the strides {x.strides}")
    touch(cuda.get_current_stream(), "gemm", [a, b, out], [out])
    product = np.matmul(a._host, b._host)
    product *= out.dtype.type(alpha)
    if beta:
        product += out.dtype.type(beta) * out._host
    out._host[...] = product
    return out


def _fits(x: Given) -> bool:
    """Whether cuBLAS takes it as it is."""
    return bool(x.flags.c_contiguous or x.flags.f_contiguous)
