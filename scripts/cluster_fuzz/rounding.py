"""Wires that round at random, and one that does not round: what half the bits may change.

A number x lies between two neighbours a <= x <= b of a format.  Its wire sends the nearer one; here
x becomes b with the probability (x - a) / (b - a) and else a: on average x, and never nearer to it
than by the wire's own rounding.  So the distance of such a run from one without rounding is what
rounding makes of this net, with all that the following steps make of it, also where the gradients
of ranks cancel and little is left of them but what was rounded off each.  Numbers of the format
stay as they are: ranks round what they keep, and send it later.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from pycaffe_dist.parallel.transport.wire import WIRES, BFloat16, Float16, Wire

PLAIN = dict(WIRES)


class _AtRandom(Wire):
    draw = 0  # another number is another series of random ones

    def pack(self, values: Any) -> Any:
        values = np.ascontiguousarray(values, np.float32)
        near: Any = super().pack(values)
        with np.errstate(all="ignore"):  # beyond the largest number
            rounded = self.unpack(near)
            outwards = np.where(np.abs(rounded) > np.abs(values), -1, 1).astype(np.int16)
            other = (near.view(np.int16) + outwards).view(near.dtype)
            gap = np.abs(self.unpack(other) - rounded)
            # The same for the same values, which may be sent to one rank after the other.
            random = np.random.default_rng([self.draw, zlib.crc32(values)])
            missed = np.abs(values - rounded)
            return np.where(random.random(values.shape) * gap < missed, other, near)


class Float16AtRandom(_AtRandom, Float16):
    """fp16 that rounds at random."""


class BFloat16AtRandom(_AtRandom, BFloat16):
    """bf16 that rounds at random."""


class Whole(Wire):
    """All bits, sent in the ways of a wire that rounds."""

    exact = False

    def pack(self, values: Any) -> Any:
        return values.copy()


AT_RANDOM = {"fp16": Float16AtRandom, "bf16": BFloat16AtRandom}


def set_wires(rounding: str, draw: int = 0) -> None:
    """How fp16 and bf16 round from now on: as "wire" does, at "random", or not at all ("none")."""
    _AtRandom.draw = draw
    for name, at_random in AT_RANDOM.items():
        WIRES[name] = {"wire": PLAIN[name], "random": at_random, "none": Whole}[rounding]
