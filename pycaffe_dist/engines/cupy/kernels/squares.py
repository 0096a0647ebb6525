"""``squares.cuh``: the matrices of Winograd's transforms as constants of CUDA."""

from __future__ import annotations

from functools import reduce

import numpy as np

from pycaffe_dist.engines import winograd
from pycaffe_dist.engines.winograd import Matrix, Transforms

FILE = "squares.cuh"
_TRANSPOSED = """
template <class Matrix>
struct Transposed {
  static constexpr int TO = Matrix::FROM, FROM = Matrix::TO;
  __device__ static constexpr Real at(int i, int j) { return Matrix::at(j, i); }
};
"""


def text() -> str:
    parts = [f"// Made of pycaffe_dist/engines/winograd.py.\n{_TRANSPOSED}"]
    parts += [_of(transforms) for transforms in (winograd.F2, winograd.F4)]
    return "".join(parts)


def _of(transforms: Transforms) -> str:
    named = {"Image": transforms.image, "Kernel": transforms.kernel, "Out": transforms.out}
    step = transforms.step
    return "".join(_struct(f"{name}{step}", reduce(np.matmul, m)) for name, m in named.items())


def _struct(name: str, matrix: Matrix) -> str:
    to, of = matrix.shape
    values = [(i * of + j, value) for (i, j), value in np.ndenumerate(matrix) if value]
    cases = "\n".join(f"      case {at}: return Real({float(value)!r});" for at, value in values)
    return f"""
struct {name} {{
  static constexpr int TO = {to}, FROM = {of};
  __device__ static constexpr Real at(int i, int j) {{
    switch (i * FROM + j) {{
{cases}
      default: return 0;
    }}
  }}
}};
"""
