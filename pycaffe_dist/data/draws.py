"""Draws in Caffe's order: the raw 32-bit stream of a Mersenne Twister, and a shuffle from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

RAW_MAX = 0xFFFFFFFF


def raw(rng: np.random.RandomState) -> int:
    """The next raw number of a generator."""
    return int(rng.randint(0, RAW_MAX + 1, dtype=np.uint32))


def shuffle(rng: np.random.RandomState, items: list[Any]) -> None:
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
