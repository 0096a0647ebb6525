"""Transpose and Reverse."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, Shape
from pycaffe_dist.blob import Views
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rearranged import Rearranged
from pycaffe_dist.layers.ssd.permute import Axes


@register("Transpose")
class Transpose(Axes):
    """The axes in the order ``dim``, which names each of them once."""

    def setup(self, bottom: Views, top: Views) -> None:
        self.order, count = [*self.layer_param.transpose_param.dim], len(bottom[0].shape)
        self.check(
            sorted(self.order) == [*range(count)],
            f"dim must name each of the {count} axes once, found {self.order}",
        )


@register("Reverse")
class Reverse(Rearranged):
    """The values in reverse order along ``axis``."""

    def shape(self, x: Shape) -> Sequence[int]:
        axis = self.layer_param.reverse_param.axis
        self.check(-len(x) <= axis < len(x), f"axis {axis} is out of range for the bottom {x}")
        self.axis = axis % len(x)
        return x

    def view(self, x: Array) -> Array:
        return x[(slice(None),) * self.axis + (slice(None, None, -1),)]
