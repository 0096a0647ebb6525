"""ShuffleChannel."""

from __future__ import annotations

from collections.abc import Sequence

from pycaffe_dist.aliases import Array, Shape
from pycaffe_dist.layer import register
from pycaffe_dist.layers.rearranged import Rearranged


@register("ShuffleChannel")
class ShuffleChannel(Rearranged):
    """Channels (group, C/group) as (C/group, group): each group gets channels of all others."""

    def shape(self, x: Shape) -> Sequence[int]:
        self.group = self.layer_param.shuffle_channel_param.group
        self.check(
            len(x) > 1 and self.group > 0 and x[1] % self.group == 0,
            f"the channels of the bottom {x} must be a multiple of group {self.group}",
        )
        return x

    def view(self, x: Array) -> Array:
        channels = (self.group, x.shape[1] // self.group)
        return x.reshape(len(x), *channels, *x.shape[2:]).swapaxes(1, 2)
