"""The transform of a square tile, as sparse matrices and as code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.jit import Code, Operand


class Square:
    """T d Tᵀ of square tiles d, where T is a product of sparse matrices."""

    def __init__(self, *factors: Array) -> None:
        self.factors = factors
        self.sides = factors[-1].shape[1], factors[0].shape[0]  # from, to

    @cached_property
    def transposed(self) -> Square:
        return Square(*(np.ascontiguousarray(f.T) for f in reversed(self.factors)))

    @cached_property
    def flipped(self) -> Square:
        """Of tiles turned round."""
        *rest, last = self.factors
        return Square(*rest, last[:, ::-1])

    def write(self, code: Code, tile: Sequence[Sequence[Operand]]) -> list[list[Operand]]:
        """The code for one tile of vectors: first along the columns, then along the rows."""
        columns = [self._side(code, column) for column in zip(*tile, strict=True)]
        return [self._side(code, row) for row in zip(*columns, strict=True)]

    def _side(self, code: Code, values: Sequence[Operand]) -> list[Operand]:
        for factor in reversed(self.factors):
            values = [code.weighted(row, values) for row in factor]
        return list(values)
