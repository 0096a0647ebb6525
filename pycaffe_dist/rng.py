"""Random numbers: one Mersenne Twister for a process, seeded as Caffe seeds its own.

The raw 32-bit stream from a seed is Caffe's (crops, mirrors and shuffles draw from it); uniform and
normal numbers are NumPy's of the same generator.
"""

from __future__ import annotations

import os
import threading

import numpy as np

from pycaffe_dist.aliases import Array

WORDS = 624  # of a Mersenne Twister


def _free_when_forking(lock: threading.Lock) -> None:
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )


_making = threading.Lock()
# A process forks between two draws: else the child would have a lock that nobody gives back.
_free_when_forking(_making)
_made: list[np.random.RandomState] = []  # the generator; numpy.random is slow to import


def set_random_seed(seed: int) -> None:
    """Start the process's generator anew."""
    generator().seed(seed & 0xFFFFFFFF)


def generator() -> np.random.RandomState:
    """The process's generator."""
    if not _made:
        with _making:
            if not _made:
                _made.append(_new_generator())
    return _made[0]


def _new_generator() -> np.random.RandomState:
    bits = np.random.MT19937()
    _free_when_forking(bits.lock)
    return np.random.RandomState(bits)


def resume(
    random: np.random.RandomState, words: Array, place: int, has_gauss: int = 0, gauss: float = 0.0
) -> None:
    """Let a generator go on from what its ``get_state`` gave.

    Raises:
        ValueError: there is no such state.  NumPy takes any place and reads its next number there,
            outside of its memory if need be.
    """
    if not 0 <= place <= WORDS:
        raise ValueError(f"random numbers are at place {place} of {WORDS}")
    random.set_state(("MT19937", words, place, has_gauss, gauss))


def draw() -> int:
    """The next raw 32-bit number."""
    return int(generator().randint(0, 1 << 32, dtype=np.uint32))


def child() -> np.random.RandomState:
    """A generator of its own, seeded by the next number of the process's: a thread's, say."""
    return np.random.RandomState(draw())
