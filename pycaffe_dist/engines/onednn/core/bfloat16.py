"""bfloat16 in NumPy, which has no such type: the upper half of a float32, as uint16.

8 bits of mantissa, the range of float32.  Rounding is to the nearest, ties to even, as processors
and oneDNN do it; NaN stays NaN.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.products import Product

QUIET = 0x0040  # the bit of the mantissa that a NaN has in any case


def narrowed(values: Array) -> Array:
    """float32 to bfloat16."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    half = (bits >> 16) & 1
    half += 0x7FFF
    rounded = ((bits + half) >> 16).astype(np.uint16)
    nan = np.isnan(values)
    if nan.any():
        rounded[nan] = (bits[nan] >> 16).astype(np.uint16) | QUIET
    return rounded


def widened(numbers: Array) -> Array:
    """bfloat16 to float32, which is exact."""
    return (numbers.astype(np.uint32) << 16).view(np.float32)


def rounded(values: Array) -> Array:
    """float32 values as bfloat16 would have them."""
    return widened(narrowed(values))


class Rounded:
    """A product as bfloat16 would give it, computed in fp32 by another one.

    Operands are rounded before it and its result behind it; a gradient of weights is not, nor is a
    bias: they are fp32 in both.
    """

    def __init__(self, product: Product, which: str) -> None:
        self.name: str = product.name
        self.layouts = product.layouts
        self._call, self._which = product.call, which

    def call(self, first: Array, weights: Array, *rest: Array) -> None:
        *bias, last = rest
        if self._which == "gather":
            self._call(rounded(first), rounded(weights), *bias, last)
            last[...] = rounded(last)
        elif self._which == "spread":
            self._call(first, rounded(weights), rounded(last))
            first[...] = rounded(first)
        else:
            self._call(rounded(first), weights, *bias, rounded(last))
