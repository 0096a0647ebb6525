"""Losses of several ranks that are the loss of the joint batch, whatever they are divided by.

Losses of ranks are averaged.  Of P ranks each divides its sum by a P-th of what the joint batch
would be divided by: by the mean number of labels that count (``ignore_label`` with VALID), or by
1/P (NONE).
"""

from __future__ import annotations

from pycaffe_dist.aliases import Array
from pycaffe_dist.layers.loss import Loss
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.transport.collectives import mean
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import STATISTICS


class JointLosses:
    """The loss layers of a net on several ranks.

    Labels are counted over all ranks only while all of them run the passes of a step: a pass of a
    script may be of one rank alone.

    Args:
        net: of this rank.
        thread: which exchanges the counts; computing waits for it.
        communicator: of the ranks.
        counts: False: each rank counts its own, as where ranks do not wait for each other.
    """

    def __init__(
        self, net: Net, thread: CommThread, communicator: Communicator, counts: bool = True
    ) -> None:
        self._layers = [layer for layer in net.layers if isinstance(layer, Loss)]
        self._thread, self._port, self._ranks = thread, Port(communicator), communicator.size
        self._counting = [layer for layer in self._layers if counts and layer.counts_labels()]
        self.end_passes()

    def begin_passes(self) -> None:
        """The passes of a step follow, on all ranks."""
        for layer in self._counting:
            layer.share_batch(self._ranks, self._mean_over_ranks)

    def end_passes(self) -> None:
        for layer in self._layers:
            layer.share_batch(self._ranks, Loss.mean_over_ranks)

    def close(self) -> None:
        for layer in self._layers:
            layer.share_batch(1, Loss.mean_over_ranks)

    def _mean_over_ranks(self, values: Array) -> Array:
        self._thread.do(mean(self._port, values, STATISTICS), "labels that count", "control")
        return values
