"""The fast CPU engine: layers as primitives of oneDNN, called through ctypes.

What a layer computes stays in the layout that its primitive likes; the next layer takes it from
there, and only who needs Caffe's own order has it converted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pycaffe_dist.engines.base import Engine, Fusions
from pycaffe_dist.engines.onednn.core import library


class OneDnn(Engine):
    """NumPy's engine with faster layers."""

    name = "onednn"

    def __init__(self) -> None:
        from pycaffe_dist.engines.onednn.core.accelerated import accelerates

        self.layers = accelerates.classes()

    def finish(self, net: Any) -> Fusions:
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
        if not getattr(layer, "fast", False):
            return "numpy", "numpy"
        passes: tuple[str, str] = layer.computed_by()
        return passes

    def outer(self, left: Any, right: Any, out: Any) -> None:
        from pycaffe_dist.engines.onednn.core.products import outer

        if not outer(left, right, out):
            super().outer(left, right, out)

    def converting(self) -> tuple[int, float]:
        from pycaffe_dist.engines.onednn.core.primitives import METER

        return METER.count, METER.seconds


@cache
def create(device: int = 0) -> Engine:
    library.load()
    return OneDnn()
