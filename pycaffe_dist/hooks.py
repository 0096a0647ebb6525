"""What may be attached to a net: functions to call, and something else that computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pycaffe_dist.engines.base import Loss


class Hook(list[Callable[[int], object]]):
    """Functions to be called with a layer's index; calling the hook itself adds one (pycaffe)."""

    def __call__(self, function: Callable[[int], object]) -> None:
        self.append(function)

    def fire(self, index: int) -> None:
        for function in self:
            function(index)


class Substitute(Protocol):
    """Something that computes whole forward passes in place of a net's layers.

    Attributes:
        name: of what computes them now; "" for the layers.
    """

    @property
    def name(self) -> str: ...

    def forward(self) -> Loss:
        """The loss of a pass, which the layers compute where they are faster."""

    def settle(self) -> None:
        """Layers know what a forward pass leaves for a backward."""
