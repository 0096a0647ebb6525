"""Engine: what every engine is, and the one that is always there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.memory import HOST, Home

if TYPE_CHECKING:
    from pycaffe_dist.layer import Layer


class Engine:
    """Where the generic layers keep their values, what they compute with, and who is faster.

    Attributes:
        home: the plain home of values: its rooms are flat arrays of ``xp``.
        xp: the array module that generic layers are run with.
        layers: by layer type, a subclass of the generic layer that is to be used instead.  It
            falls back to its base class, case by case, where it has nothing better.
    """

    name = "numpy"
    home: Home = HOST
    xp: Any = np
    layers: Mapping[str, type[Layer]] = {}

    def layer_class(self, layer_type: str, generic: type[Layer]) -> type[Layer]:
        return self.layers.get(layer_type, generic)

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


NUMPY = Engine()
