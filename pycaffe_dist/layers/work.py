"""Work space: arrays that a layer needs besides its blobs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array, Facts
from pycaffe_dist.layer import Context, Layer
from pycaffe_dist.proto.caffe_pb2 import LayerParameter


class Working(Layer):
    """A layer with arrays of its own, each made when first asked for and used again by every pass.

    What forward leaves in one, backward finds there; before any forward it holds zeros.
    """

    def __init__(self, param: LayerParameter, context: Context) -> None:
        super().__init__(param, context)
        self._rooms: Facts = {}

    def work(self, name: str, shape: Sequence[int], dtype: DTypeLike | None = None) -> Array:
        """The array ``name``, in the layer's number type unless another is given."""
        count = math.prod(shape)
        room = self._rooms.get(name)
        if room is None or room.size < count:
            room = self._rooms[name] = self.xp.zeros(count, dtype or self.dtype)
        return room[:count].reshape(shape)


def planes(array: Array) -> Array:
    """An array (N, C, …) as (N, C, I)."""
    return array.reshape(*array.shape[:2], math.prod(array.shape[2:]))
