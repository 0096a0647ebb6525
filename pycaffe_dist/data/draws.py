"""Draws in Caffe's order: the raw 32-bit stream of a Mersenne Twister, and a shuffle from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.rng import resume

T = TypeVar("T")

RAW_MAX = 0xFFFFFFFF


def raw(rng: np.random.RandomState) -> int:
    """The next raw number of a generator."""
    return int(rng.randint(0, RAW_MAX + 1, dtype=np.uint32))


def shuffle(rng: np.random.RandomState, items: list[T]) -> None:
    """Fisher-Yates from the end, each place drawn as Boost's uniform_int draws it."""
    numbers = _stream(rng, len(items) - 1)
    for i in range(len(items) - 1, 0, -1):
        # 2^32 is cut into i + 1 equal buckets; what lies behind the last is drawn again.
        bucket = (RAW_MAX + 1) // (i + 1)
        j = next(numbers) // bucket
        while j > i:
            j = next(numbers) // bucket
        items[i], items[j] = items[j], items[i]


def _stream(rng: np.random.RandomState, count: int) -> Iterator[int]:
    """At first ``count`` raw numbers at once, which is nearly always enough; then one by one."""
    yield from rng.randint(0, RAW_MAX + 1, size=max(count, 0), dtype=np.uint32).tolist()
    while True:
        yield raw(rng)


def state_of(rng: np.random.RandomState) -> NDArray[np.uint32]:
    """Where a generator's raw stream stands: 624 words and the place among them."""
    _, words, place, *_ = rng.get_state(legacy=True)
    return np.append(words, np.uint32(place)).astype(np.uint32)


def from_state(state: NDArray[np.uint32]) -> np.random.RandomState:
    """A generator that resumes from what ``state_of`` gave.

    A new one, because in a forked process the old one may be locked for ever: by a thread of the
    parent that was drawing from it.
    """
    rng = np.random.RandomState()
    resume(rng, state[:-1], int(state[-1]))
    return rng
