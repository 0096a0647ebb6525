"""Random numbers: one Mersenne Twister for a process, seeded as Caffe seeds its own.

The raw 32-bit stream from a seed is Caffe's (crops, mirrors and shuffles draw from it); uniform and
normal numbers are NumPy's of the same generator.
"""

from __future__ import annotations

import os

import numpy as np

_generator = np.random.RandomState(int.from_bytes(os.urandom(4), "little"))


def set_random_seed(seed: int) -> None:
    """Start the process's generator anew."""
    _generator.seed(seed & 0xFFFFFFFF)


def generator() -> np.random.RandomState:
    """The process's generator."""
    return _generator


def draw() -> int:
    """The next raw 32-bit number."""
    return int(_generator.randint(0, 1 << 32, dtype=np.uint32))


def child() -> np.random.RandomState:
    """A generator of its own, seeded by the next number of the process's: a thread's, say."""
    return np.random.RandomState(draw())
