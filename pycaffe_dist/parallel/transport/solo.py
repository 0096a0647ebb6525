"""One process on its own, on the same path as many."""

from __future__ import annotations

import socket
import sys
from typing import NoReturn

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.transport.communicator import Communicator, Nodes, Request


class SoloCommunicator(Communicator):
    """The only rank."""

    def __init__(self) -> None:
        super().__init__(0, 1, Nodes.by_host([socket.gethostname()]))

    def _isend(self, array: Array, to: int, tag: int) -> Request:
        raise ValueError(f"there is no rank {to}")

    def _irecv(self, array: Array, source: int, tag: int) -> Request:
        raise ValueError(f"there is no rank {source}")

    def share(self, count: int, dtype: DTypeLike) -> Array:
        return np.zeros(count, dtype)

    def abort(self, code: int) -> NoReturn:
        sys.exit(code)

    def close(self) -> None:
        pass
