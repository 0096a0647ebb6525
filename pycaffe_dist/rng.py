"""Random numbers: one Mersenne Twister for a process, seeded as Caffe seeds its own.

The raw 32-bit stream from a seed is Caffe's (crops, mirrors and shuffles draw from it); uniform and
normal numbers are NumPy's of the same generator.
"""

from __future__ import annotations

import os

import numpy as np

_bits = np.random.MT19937()
_generator = np.random.RandomState(_bits)
# A process forks between two draws: else the child would have a lock that nobody gives back.
os.register_at_fork(
    before=_bits.lock.acquire,
    after_in_parent=_bits.lock.release,
    after_in_child=_bits.lock.release,
)


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
