"""How numbers travel between devices: wire.py's formats, made and added up by kernels."""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.cupy.nccl import Nccl


class DeviceWire:
    """Numbers as they are.

    Args:
        nccl: which moves them.
        mean: whether sums over ranks become means.
    """

    exact = True

    def __init__(self, nccl: Nccl, mean: bool) -> None:
        self.nccl, self.engine, self.mean = nccl, nccl.engine, mean

    def room(self, count: int, dtype: DType) -> DeviceArray:
        """Where ``count`` numbers can be received."""
        return self.engine.home.allocate(count, dtype)

    def pack(self, values: DeviceArray, packed: DeviceArray) -> None:
        packed[...] = values

    def unpack(self, packed: DeviceArray, values: DeviceArray) -> None:
        values[...] = packed

    def add_up(self, packed: DeviceArray, total: DeviceArray) -> None:
        """Rank r gets, in ``total``, the r-th of P parts of all, as their sum or mean."""
        self.nccl.reduce_scatter(packed, total, self.mean)


class _Half(DeviceWire):
    """Each rank's part is rounded once; the sum is made in full, in the order of ranks."""

    exact = False
    cast, add = "", ""

    def __init__(self, nccl: Nccl, mean: bool) -> None:
        super().__init__(nccl, mean)
        self._scale = 1 / nccl.size if mean else 1.0
        self._theirs: DeviceArray = None  # what comes of others, in one exchange after the other

    def room(self, count: int, dtype: DType) -> DeviceArray:
        return super().room(count, np.dtype(np.uint16))

    def pack(self, values: DeviceArray, packed: DeviceArray) -> None:
        self.engine.launch(self.cast, values.dtype, values.size, values, packed)

    def unpack(self, packed: DeviceArray, values: DeviceArray) -> None:
        self._add(1, 1.0, packed, values)

    def add_up(self, packed: DeviceArray, total: DeviceArray) -> None:
        if self._theirs is None or self._theirs.size < packed.size:
            self._theirs = self.room(packed.size, packed.dtype)
        theirs = self._theirs[: packed.size]
        self.nccl.all_to_all(packed, theirs)
        self._add(self.nccl.size, self._scale, theirs, total)

    def _add(self, parts: int, scale: float, packed: DeviceArray, total: DeviceArray) -> None:
        self.engine.launch(self.add, total.dtype, total.size, parts, scale, packed, total)


class _Float16(_Half):
    cast, add = "real_to_half", "sum_halves"


class _BFloat16(_Half):
    cast, add = "real_to_bfloat", "sum_bfloats"


WIRES: dict[str, type[DeviceWire]] = {"fp32": DeviceWire, "fp16": _Float16, "bf16": _BFloat16}
