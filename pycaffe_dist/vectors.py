"""pycaffe's vectors: lists that scripts know by the names of Caffe's types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.blob import Blob

if TYPE_CHECKING:
    from pycaffe_dist.pycaffe import Net


class BlobVec(list[Blob]):
    """A layer's parameters; makes new ones of its number type: ``blobs.add_blob(3, 4)``."""

    def __init__(self, dtype: DTypeLike = np.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def add_blob(self, *shape: int) -> None:
        """Append a blob of zeros."""
        self.append(Blob(shape, self.dtype))


class RawBlobVec(list[Blob]):
    """The bottoms, or the tops, of a user's own layer."""


class LayerVec(list[Any]):
    """The layers of a net."""


class NetVec(list["Net"]):
    """The test nets of a solver."""


class StringVec(list[str]):
    """Names of layers or blobs."""


class IntVec(list[int]):
    """Numbers of blobs."""


class DtypeVec(list[float]):
    """Loss weights."""


class BoolVec(list[bool]):
    """Which bottoms want a gradient."""
