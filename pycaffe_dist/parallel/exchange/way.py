"""The way of gradients between ranks, as a cluster sees it: through the memory of the hosts.

nccl.py has the other one, straight from device to device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pycaffe_dist.aliases import DeviceArray, DType
from pycaffe_dist.engines.base import Loss
from pycaffe_dist.memory import HOST, Home, Value
from pycaffe_dist.parallel.exchange.parcel import Fabric, Parcel
from pycaffe_dist.parallel.plan.links import Links, measure_links
from pycaffe_dist.parallel.schemes.scheme import Scheme
from pycaffe_dist.parallel.transport.communicator import Communicator

if TYPE_CHECKING:
    from pycaffe_dist.parallel.exchange.gate import Gate


class Way:
    """Through host memory, by MPI.

    Attributes:
        words: what the log says of it; nothing where no rank has a GPU.
        levels: whether the ranks of a node add up first, and their leader speaks for them.
        home: where values are that travel this way.
        times: busy and exposed seconds, where it is not the host that sees them.
    """

    levels = True
    home: Home = HOST
    times: Callable[[], tuple[float, float]] | None = None

    def __init__(self, words: str = "") -> None:
        self.words = words

    def links(self, communicator: Communicator) -> Links:
        """Measured, by all ranks together."""
        return measure_links(communicator)

    def exchange(self, scheme: Scheme) -> type[Parcel]:
        """What carries the gradients of a scheme here."""
        return scheme.host

    def fabric(self, plain: Fabric) -> Fabric:
        return plain

    def losses(self, loss: Loss, iteration: int, gate: Gate | None) -> DeviceArray:
        """The losses of all ranks, if they travel this way; None: with what else ranks tell."""
        return None

    def gate(self, dtype: DType) -> Gate | None:
        """What sees losses before the host does; None: the host sees all of them."""
        return None

    def mean_over_ranks(self, values: DeviceArray) -> DeviceArray:
        """The mean of an array over ranks; None: it is made in the hosts."""
        return None

    def broadcast(self, values: Sequence[Value]) -> bool:
        """Let all ranks have rank 0's values; False: the hosts do that."""
        return False
