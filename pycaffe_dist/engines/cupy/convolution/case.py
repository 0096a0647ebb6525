"""What is to be computed: one of a convolution's three products, and its sizes."""

from __future__ import annotations

from enum import Enum
from math import prod
from typing import NamedTuple

from pycaffe_dist.aliases import DType
from pycaffe_dist.engines.cupy.precision import FORMATS
from pycaffe_dist.layers.windows import Windows


class Direction(Enum):
    """Which of the three arrays is made of the other two."""

    FORWARD = "forward"  # out = W columns
    DATA = "backward data"  # image = the columns Wᵀ out, added to their pixels
    FILTER = "backward filter"  # W += out columnsᵀ

    @property
    def makes(self) -> int:
        """Which of image, weights and out."""
        return [Direction.DATA, Direction.FILTER, Direction.FORWARD].index(self)


class Case(NamedTuple):
    """A product of arrays of these sizes.

    image: (N, C, *image)  weights: (M, C/group, *kernel)  out: (N, M, *out)
    """

    direction: Direction
    windows: Windows
    images: int  # N
    channels: int  # C
    outputs: int  # M
    group: int
    dtype: DType
    precision: str  # "float64", "float32", or what tensor cores are given: "tf32", "bf16", "fp16"

    @property
    def image(self) -> tuple[int, ...]:
        return self.images, self.channels, *self.windows.image

    @property
    def weights(self) -> tuple[int, ...]:
        return self.outputs, self.channels // self.group, *self.windows.kernel

    @property
    def out(self) -> tuple[int, ...]:
        return self.images, self.outputs, *self.windows.out

    @property
    def nbytes(self) -> tuple[int, int, int]:
        """Of image, weights and out."""
        image, weights, out = (prod(s) for s in (self.image, self.weights, self.out))
        size = self.dtype.itemsize
        return image * size, weights * size, out * size

    @property
    def flops(self) -> int:
        """Of the products that define it."""
        return 2 * prod(self.out) * prod(self.weights[1:])

    @property
    def rounds_to(self) -> str:
        """The format of factors that tensor cores multiply; nothing where products are in full."""
        return self.precision if self.precision in FORMATS else ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compute, or to compute with."""
        return not prod(self.image) * prod(self.weights) * prod(self.out)

    @property
    def sizes(self) -> tuple[int, ...]:
        """What kernels are told of the windows."""
        return sizes(self.windows)

    def __str__(self) -> str:
        """The name under which a choice is remembered."""
        w = self.windows
        parts = [("kernel", w.kernel), ("stride", w.stride), ("pad", w.pad)]
        parts += [("dilation", w.dilation), ("group", (self.group,))]
        facts = " ".join(f"{name} {_by(numbers)}" for name, numbers in parts)
        sides = f"{_by(self.image)} to {_by(self.out)}"
        return f"{self.direction.value}, {self.precision}: {sides}, {facts}"


def sizes(w: Windows) -> tuple[int, ...]:
    """What kernels are told of windows."""
    return (*w.image, *w.kernel, *w.pad, *w.stride, *w.dilation, *w.out)


def _by(numbers: tuple[int, ...]) -> str:
    return "x".join(map(str, numbers))
