"""Planes of tiles in memory: where the values are that products multiply place by place."""

from __future__ import annotations

from dataclasses import dataclass

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.onednn.core.jit import FLOAT_BYTES, address

GAP = 16  # floats between planes, so that their values do not all want the same lines of a cache


@dataclass(frozen=True)
class Planes:
    """Where an array of planes, (places, rows, columns), lies in memory.

    Attributes:
        start: the address of the first plane.
        bytes: from one plane to the next.
    """

    start: int
    bytes: int
    places: int
    rows: int
    columns: int

    @staticmethod
    def size(places: int, rows: int, columns: int) -> int:
        """Floats of a room for planes with gaps."""
        return places * (rows * columns + GAP)

    @staticmethod
    def apart(room: Array, places: int, rows: int, columns: int) -> Planes:
        """Planes with gaps in such a room."""
        stride = FLOAT_BYTES * (rows * columns + GAP)
        return Planes(address(room), stride, places, rows, columns)

    @staticmethod
    def of_group(array: Array, group: int) -> Planes:
        """Those of a group in an array (places, groups, rows, columns)."""
        places, _, rows, columns = array.shape
        return Planes(address(array[:, group]), array.strides[0], places, rows, columns)
