"""pycaffe's vectors: lists that scripts know by the names of Caffe's types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycaffe_dist.blob import Blob, BlobVec

if TYPE_CHECKING:
    from pycaffe_dist.pycaffe.net import Net


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


__all__ = [
    "BlobVec",
    "BoolVec",
    "DtypeVec",
    "IntVec",
    "LayerVec",
    "NetVec",
    "RawBlobVec",
    "StringVec",
]
