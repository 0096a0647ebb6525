"""What keeps a loss that is no number from the weights, where losses are on devices.

The host does not look at each loss there.  So the device does: from the first iteration on in which
the loss of a rank is NaN or infinite, updates change nothing, until the host looks and stops.
"""

from __future__ import annotations

import numpy as np

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.cupy.engine import CupyEngine
from pycaffe_dist.solvers.stepper import BadLoss, bad_loss


class Gate:
    """The same on all ranks, as all have the same losses.

    Args:
        engine: of the device.
        dtype: of the weights.
        ranks: how many there are.

    Attributes:
        factor: by which updates multiply gradients, one number on the device: 1, or 0, which leaves
            weights and history as they are.
    """

    def __init__(self, engine: CupyEngine, dtype: DType, ranks: int) -> None:
        self._engine, self._ranks = engine, ranks
        self.factor = engine.xp.asarray(np.ones(1, dtype))
        self._first = engine.home.allocate(1 + ranks, np.dtype(np.float64))

    def see(self, iteration: int, losses: DeviceArray) -> None:
        """Have the device look at the losses of all ranks, on the stream on which they came."""
        self._engine.launch(
            "see_losses", self.factor.dtype, 1, self._ranks, iteration, losses, self.factor,
            self._first,
        )  # fmt: skip

    def bad(self) -> BadLoss | None:
        """The first bad loss, if there was one: the host waits for the device."""
        iteration, *losses = self._first.get().tolist()
        return bad_loss(int(iteration), losses)
