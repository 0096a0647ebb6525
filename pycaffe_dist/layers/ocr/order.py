"""Transpose and Reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycaffe_dist.layer import register
from pycaffe_dist.layers.rearranged import Rearranged, Shape


@register("Transpose")
class Transpose(Rearranged):
    """The axes in the order ``dim``, which names each of them once."""

    def shape(self, x: Shape) -> Sequence[int]:
        order = [*self.layer_param.transpose_param.dim]
        self.check(
            sorted(order) == [*range(len(x))],
            f"dim must name each of the {len(x)} axes of the bottom {x} once, found {order}",
        )
        return [x[axis] for axis in order]

    def view(self, x: Any) -> Any:
        return x.transpose(*self.layer_param.transpose_param.dim)


@register("Reverse")
class Reverse(Rearranged):
    """The values in reverse order along ``axis``."""

    def shape(self, x: Shape) -> Sequence[int]:
        axis = self.layer_param.reverse_param.axis
        self.check(-len(x) <= axis < len(x), f"axis {axis} is out of range for the bottom {x}")
        self.axis = axis % len(x)
        return x

    def view(self, x: Any) -> Any:
        return x[(slice(None),) * self.axis + (slice(None, None, -1),)]
