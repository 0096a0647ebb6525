"""A device that waits too long for others: the host does not wait with it, so it must ask."""

from __future__ import annotations

from collections.abc import Callable

from pycaffe_dist.engines.cupy.nccl import Nccl, Pending
from pycaffe_dist.parallel.job.watchdog import Stall, Watchdog
from pycaffe_dist.parallel.transport.communicator import Communicator


class DeviceWatch(Watchdog):
    """Looks now and then whether the exchange that was issued last has come to its end.

    NCCL does not say who is missing, so all others are named; who is to blame says nothing.  The
    job ends as it is: were NCCL's communicator aborted first, the main thread would continue with
    what is half exchanged.
    """

    def __init__(self, timeout: float, communicator: Communicator) -> None:
        ranks = range(communicator.size)
        super().__init__(timeout, [communicator.nodes.host(rank) for rank in ranks])
        self.others = [rank for rank in ranks if rank != communicator.rank]
        self._newest: Pending | None = None

    def begin(self, what: str, nccl: Nccl, issue: Callable[[], object]) -> Pending:
        """Issue an exchange, which comes after all that were before.

        The host may have to wait here already, when NCCL first has to find the others.
        """
        self._newest = None
        self.waiting(what, self.others)
        self._newest = nccl.begin(issue)
        return self._newest

    def late(self) -> Stall | None:
        if self._newest is not None and self._newest.done:
            return None
        return super().late()
