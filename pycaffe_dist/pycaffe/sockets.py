"""What NCCL does between GPUs, for processes of one machine that compute on its CPUs.

Rank 0 adds up what the others send, in the order of ranks, and all get its sum: the same bits.
"""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.errors import PcdError

ID_BYTES = 128  # as NCCL's
START = 600.0  # seconds that ranks wait for each other: as many are at work, or one has failed
RETRY = 0.02


def new_id() -> bytes:
    """What one process makes, and all ranks need, to find each other."""
    return secrets.token_bytes(ID_BYTES)


class Done:
    """An exchange that has ended when it is begun."""

    def wait(self) -> None:
        """It is done."""


def _close(ends: dict[int, socket.socket]) -> None:
    for end in ends.values():
        end.close()


class Sockets:
    """One rank among all.

    Args:
        rank, size: which of how many ranks this is.
        unique_id: of ``new_id``.

    Raises:
        PcdError: not all ranks have come, or one has gone.
    """

    def __init__(self, rank: int, size: int, unique_id: bytes) -> None:
        self.rank, self.size = rank, size
        self._path = os.path.join(tempfile.gettempdir(), f"caffe-{unique_id[:16].hex()}")
        self._until = time.monotonic() + START
        self._sockets: dict[int, socket.socket] = {}  # by rank: rank 0 knows all, the others it
        self.close = weakref.finalize(self, _close, self._sockets)
        if size > 1 and rank == 0:
            self._listen()
        elif size > 1:
            self._sockets[0] = self._connected()
            self._sockets[0].sendall(bytes([rank]))

    def begin(self, issue: Callable[[], object]) -> Done:
        """Exchange now."""
        issue()
        return Done()

    def all_reduce(self, arrays: Sequence[Array], mean: bool) -> None:
        """Each array becomes its sum, or mean, over ranks."""
        for x in arrays:
            if self.rank:
                self._send(x, 0)
                self._receive(x, 0)
                continue
            theirs = np.empty_like(x)
            for rank in sorted(self._sockets):
                self._receive(theirs, rank)
                x += theirs
            if mean:
                x /= self.size
            for rank in self._sockets:
                self._send(x, rank)

    def broadcast(self, arrays: Sequence[Array], root: int) -> None:
        """What rank 0 has; there is no other root."""
        assert root == 0
        for x in arrays:
            for rank in self._sockets:
                (self._receive if self.rank else self._send)(x, rank)

    # -- who is there ------------------------------------------------------------------------

    def _listen(self) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._path)
            try:
                os.chmod(self._path, 0o600)  # nobody else's processes
                listener.listen(self.size)
                while len(self._sockets) < self.size - 1:
                    listener.settimeout(max(self._until - time.monotonic(), RETRY))
                    other = listener.accept()[0]
                    other.settimeout(None)
                    self._sockets[other.recv(1)[0]] = other
            except TimeoutError as e:
                missing = sorted({*range(1, self.size)} - {*self._sockets})
                raise PcdError(f"caffe.NCCL: rank 0 waited {START:g} s for {missing}") from e
            finally:
                os.unlink(self._path)

    def _connected(self) -> socket.socket:
        while True:
            found = socket.socket(socket.AF_UNIX)
            try:
                found.connect(self._path)
            except (FileNotFoundError, ConnectionRefusedError) as e:
                found.close()
                if time.monotonic() > self._until:
                    message = f"caffe.NCCL: rank {self.rank} waited {START:g} s for rank 0"
                    raise PcdError(message) from e
                time.sleep(RETRY)
            else:
                return found

    # -- bytes -------------------------------------------------------------------------------

    def _send(self, x: Array, rank: int) -> None:
        try:
            self._sockets[rank].sendall(memoryview(x).cast("B"))
        except OSError as e:
            raise self._gone(rank) from e

    def _receive(self, x: Array, rank: int) -> None:
        room = memoryview(x).cast("B")
        while len(room):
            try:
                count = self._sockets[rank].recv_into(room)
            except OSError as e:
                raise self._gone(rank) from e
            if not count:
                raise self._gone(rank)
            room = room[count:]

    def _gone(self, rank: int) -> PcdError:
        return PcdError(f"caffe.NCCL: rank {rank} has gone; its own output says why")
