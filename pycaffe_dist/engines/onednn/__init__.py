"""The fast CPU engine: layers as primitives of oneDNN, called through ctypes.

What a layer computes stays in the layout that its primitive likes; the next layer takes it from
there, and only who needs Caffe's own order has it converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.base import Engine, Fusions, ImagePass, NetView
from pycaffe_dist.engines.onednn.core import library
from pycaffe_dist.errors import NetError

if TYPE_CHECKING:
    from pycaffe_dist.engines.onednn.core.traced import Traced


class OneDnn(Engine):
    """NumPy's engine with faster layers."""

    name = "onednn"

    def __init__(self, precision: str) -> None:
        from pycaffe_dist.engines.onednn.core.accelerated import accelerates

        self.precision = precision
        self.layers = accelerates.classes()

    def at(self, precision: str) -> Engine:
        if precision in ("tf32", "fp16"):
            return super().at(precision)
        if precision == "bf16" and not library.load().has_bf16:
            raise NetError(
                "--precision bf16: this processor has neither avx512_bf16 nor AMX, or oneDNN is "
                "told not to use them (ONEDNN_MAX_CPU_ISA); leave the flag out for fp32, or try "
                "--precision bf16-emulated, which rounds like bf16 and is slower than fp32"
            )
        return _engine(precision)

    def finish(self, net: NetView) -> Fusions:
        from pycaffe_dist.engines.onednn.fusion import find

        return find(net)

    def fix_choices(self) -> None:
        from pycaffe_dist.engines.onednn.core.remembered import CHOICES

        CHOICES.measuring = False

    def choices(self) -> dict[str, str]:
        from pycaffe_dist.engines.onednn.core.remembered import CHOICES, machine

        return {"machine": machine(), **CHOICES.used}

    def give_choices(self, choices: Mapping[str, str]) -> None:
        from pycaffe_dist.engines.onednn.core.remembered import CHOICES, machine

        if choices.get("machine") == machine():  # on another one, others are faster
            CHOICES.give(choices)

    def computed_by(self, layer: Any) -> tuple[str, str]:
        if not getattr(layer, "fast", False):  # also where the library was never loaded
            return "numpy", "numpy"
        passes: tuple[str, str] = layer.computed_by()
        return passes

    def outer(self, left: Array, right: Array, out: Array) -> None:
        from pycaffe_dist.engines.onednn.core.products import outer

        if not outer(left, right, out):
            super().outer(left, right, out)

    def one_pass(self, work: Callable[..., object], arrays: Sequence[Array], rooms: int) -> bool:
        if any(array.dtype != np.float32 or not array.flags.c_contiguous for array in arrays):
            return False
        made = _traced(work, len(arrays), rooms)
        if made is not None:
            made(arrays)
        return made is not None

    def image_pass(self) -> ImagePass | None:
        try:
            from pycaffe_dist.engines.onednn.core.images import transform
        except ImportError:  # LLVM is not there
            return None
        return transform

    def converting(self) -> tuple[int, float]:
        from pycaffe_dist.engines.onednn.core.primitives import METER

        return METER.count, METER.seconds


def create(device: int = 0) -> Engine:
    library.load()
    return _engine(Engine.precision)


@lru_cache(1024)
def _traced(work: Callable[..., object], arrays: int, rooms: int) -> Traced | None:
    """None where LLVM, which compiles it, is not there, or where the work does other things."""
    try:
        from pycaffe_dist.engines.onednn.core.traced import traced
    except ImportError:
        return None
    try:
        return traced(work, arrays, rooms)
    except (NotImplementedError, TypeError, AttributeError):  # a rule of the user's, maybe
        return None


@cache
def _engine(precision: str) -> OneDnn:
    return OneDnn(precision)
