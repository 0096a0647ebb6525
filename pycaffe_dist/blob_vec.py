"""BlobVec: the list of a layer's parameters as a user's own layer sees it."""

from __future__ import annotations

from numpy.typing import DTypeLike

from pycaffe_dist.blob import Blob


class BlobVec(list[Blob]):
    """A list of blobs that makes new ones of its number type: ``blobs.add_blob(3, 4)``."""

    def __init__(self, dtype: DTypeLike) -> None:
        super().__init__()
        self.dtype = dtype

    def add_blob(self, *shape: int) -> None:
        """Append a blob of zeros."""
        self.append(Blob(shape, self.dtype))
