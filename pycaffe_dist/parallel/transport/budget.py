"""A budget for what is sent, as a token bucket."""

from __future__ import annotations

import time
from collections.abc import Callable

BURST_SECONDS = 0.02


class TokenBucket:
    """Fills with ``rate`` bytes a second up to a burst; a send may begin while it is not empty.

    A send larger than what is there leaves a debt, which later ones wait for, so that no more than
    rate · seconds + a burst + one send is begun in any stretch of time.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = rate * BURST_SECONDS
        self._clock = clock
        self._tokens, self._at = self.burst, clock()

    def take(self, size: int) -> bool:
        """Whether ``size`` bytes may be sent now; if so, they are taken."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens <= 0:
            return False
        self._tokens -= size
        return True
