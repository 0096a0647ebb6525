"""Whether the updates of an iteration may be made: not if training stops at a NaN loss.

Exchanges that update by themselves do so while backward still computes.  Then it is enough that the
losses of all ranks are known and are numbers; if one is not, they wait for what the main thread
decides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.transport.communicator import Steps


class Verdict:
    """Of one iteration after the other, the same on all ranks.

    Args:
        losses: of all ranks in this iteration; None as long as they are not known.
    """

    def __init__(self, losses: Callable[[], Array | None]) -> None:
        self._losses = losses
        self._decided: bool | None = None

    def begin(self) -> None:
        """An iteration's loss has been offered to the others."""
        self._decided = None

    def decide(self, update: bool) -> None:
        self._decided = update

    @property
    def update(self) -> bool | None:
        """Whether to update; None: that is not known yet."""
        if self._decided is None:
            losses = self._losses()
            if losses is not None and np.isfinite(losses).all():
                self._decided = True
        return self._decided

    def wait(self) -> Steps[None]:
        """Until it is known; for the communication thread."""
        while self.update is None:
            yield False
