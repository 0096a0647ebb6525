"""Winograd's minimal filtering F(s×s, 3×3), as numbers: what the engines make their code of.

Each s×s tile of the output of a convolution is Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A of a tile d of the image,
two larger, and a kernel g.  For s = 2 that is 16 products where 36 are needed otherwise, for s = 4
it is 36 where 144 are needed.  Summed over channels they are matrix products, one for each place in
the tile.  The gradients are the transposes of the same three transforms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def _matrix(*rows: tuple[float, ...]) -> Matrix:
    return np.array(rows, np.float64)


@dataclass(frozen=True, eq=False)
class Transforms:
    """For one size of tiles; each is a product of sparse matrices.

    Attributes:
        step: the side of a tile of the output.
        image, kernel, out: Bᵀ, G and Aᵀ.
    """

    step: int
    image: tuple[Matrix, ...]
    kernel: tuple[Matrix, ...]
    out: tuple[Matrix, ...]

    @property
    def side(self) -> int:
        """Of a tile of the image."""
        return self.step + 2

    @property
    def places(self) -> int:
        return self.side**2


# The points 0, ±1, ∞.
F2 = Transforms(
    2,
    image=(_matrix((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),),
    kernel=(_matrix((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)),),
    out=(_matrix((1, 1, 1, 0), (0, 1, -1, -1)),),
)
# The points 0, ±a, ±b, ∞ with a² = 1/2, b² = 2, whose rounding errors are a quarter of those of the
# usual ±1, ±2.  Each pair shares an even and an odd part, e ± o, so that transforms come in two
# steps: the parts, and BOTH.
_a, _b = 0.5**0.5, 2**0.5
_BOTH = _matrix(
    (1, 0, 0, 0, 0, 0),
    (0, 1, 1, 0, 0, 0),
    (0, 1, -1, 0, 0, 0),
    (0, 0, 0, 1, 1, 0),
    (0, 0, 0, 1, -1, 0),
    (0, 0, 0, 0, 0, 1),
)
F4 = Transforms(
    4,
    image=(
        _BOTH,
        _matrix(
            (1, 0, -2.5, 0, 1, 0),
            (0, 0, -2, 0, 1, 0),
            (0, -2 * _a, 0, _a, 0, 0),
            (0, 0, -0.5, 0, 1, 0),
            (0, -0.5 * _b, 0, _b, 0, 0),
            (0, 1, 0, -2.5, 0, 1),
        ),
    ),
    kernel=(
        _BOTH,
        _matrix(
            (1, 0, 0),
            (-1 / 1.5, 0, -0.5 / 1.5),
            (0, -_a / 1.5, 0),
            (1 / 6, 0, 2 / 6),
            (0, _b / 6, 0),
            (0, 0, 1),
        ),
    ),
    out=(
        _matrix(
            (1, 1, 0, 1, 0, 0),
            (0, 0, _a, 0, _b, 0),
            (0, 0.5, 0, 2, 0, 0),
            (0, 0, 0.5 * _a, 0, 2 * _b, 1),
        ),
        _BOTH,
    ),
)
