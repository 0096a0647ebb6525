"""Groups of one channel of a plane image are convolved as they are: no columns are made."""

from __future__ import annotations

from math import prod

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.cupy.convolution.case import Case, Direction
from pycaffe_dist.engines.cupy.convolution.way import Way
from pycaffe_dist.engines.cupy.launch import split


class Depthwise(Way):
    name = "depthwise"

    @classmethod
    def can(cls, case: Case) -> bool:
        return case.channels == case.group > 1 and len(case.windows.image) == 2

    def compute(self, image: DeviceArray, weights: DeviceArray, out: DeviceArray) -> None:
        case = self.case
        shape = case.group, case.outputs // case.group, *case.sizes
        if case.direction is Direction.FORWARD:
            self.launch("depthwise_forward", out.size, *shape, image, weights, out)
        elif case.direction is Direction.DATA:
            self.launch("depthwise_backward", image.size, *shape, out, weights, image)
        else:
            splits = split(case.images * prod(case.windows.out), weights.size)
            partial = self.spare("partial", (weights.size * splits,))
            counts = splits, len(image), *shape
            sums = partial, self.engine.tickets(weights.size), weights
            self.launch("depthwise_weight_sums", partial.size, *counts, image, out, *sums)
