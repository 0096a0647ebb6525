"""How numbers travel: as they are, or in half the bits.

fp16 has 10 bits of fraction and ends at 65504, where larger numbers stay; bf16 has fp32's range and
7 bits of fraction.  Both round to nearest, even.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycaffe_dist.aliases import Array, DType

F16_MOST = 65504.0
NOT_A_NUMBER = np.uint16(0x7FC0)


class Wire:
    """Numbers as they are."""

    name = "fp32"
    exact = True

    def size(self, dtype: DType) -> int:
        """Bytes of one number."""
        return dtype.itemsize

    def pack(self, values: Array) -> Array:
        """What is sent for ``values``; may be the same memory."""
        return values

    def room(self, count: int, dtype: DType) -> Array:
        """Where ``count`` numbers can be received."""
        return np.empty(count, dtype)

    def unpack(self, packed: Array) -> Array:
        return packed

    def round(self, values: Array) -> None:
        """Make ``values`` what a receiver sees of them."""


class _Half(Wire):
    exact = False
    packed_type: Any

    def size(self, dtype: DType) -> int:
        return 2

    def room(self, count: int, dtype: DType) -> Array:
        return np.empty(count, self.packed_type)

    def round(self, values: Array) -> None:
        values[...] = self.unpack(self.pack(values))


class Float16(_Half):
    """IEEE's half precision."""

    name = "fp16"
    packed_type = np.float16

    def pack(self, values: Array) -> Array:
        return np.clip(values, -F16_MOST, F16_MOST).astype(np.float16)

    def unpack(self, packed: Array) -> Array:
        return packed.astype(np.float32)


class BFloat16(_Half):
    """The upper half of fp32's bits."""

    name = "bf16"
    packed_type = np.uint16

    def pack(self, values: Array) -> Array:
        values = np.ascontiguousarray(values, np.float32)
        bits = values.view(np.uint32)
        packed: Array = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        packed[np.isnan(values)] = NOT_A_NUMBER
        return packed

    def unpack(self, packed: Array) -> Array:
        return (packed.astype(np.uint32) << 16).view(np.float32)


WIRES = {wire.name: wire for wire in (Wire, Float16, BFloat16)}


def create_wire(name: str) -> Wire:
    return WIRES[name]()
