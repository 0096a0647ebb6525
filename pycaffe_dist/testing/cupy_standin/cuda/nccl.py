"""``cupy.cuda.nccl`` of the stand-in: collectives between threads, or between processes.

The process that makes a unique id has a hub, which every rank speaks to through a socket.  A rank
brings what it has for an operation, or for a group of them; when all have come, the hub gives each
its part.  Ranks that do not call the same, the same device twice, and buffers that overlap in any
other way than NCCL allows are errors.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import uuid
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import numpy as np

from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.testing.cupy_standin.cuda import stream_at
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.memory import COUNTS, HOST_CLOCK, Clock, memory_at

available = True

NCCL_UINT8, NCCL_FLOAT16, NCCL_FLOAT32, NCCL_FLOAT64 = 1, 6, 7, 8
NCCL_SUM, NCCL_AVG = 0, 4

_TYPES = {NCCL_UINT8: "u1", NCCL_FLOAT16: "f2", NCCL_FLOAT32: "f4", NCCL_FLOAT64: "f8"}
_ID_BYTES = 128
_SYSTEM_ERROR, _INVALID_USAGE, _REMOTE_ERROR = 2, 5, 6


class NcclError(RuntimeError):
    """What CuPy raises for an error of NCCL."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(f"NCCL_ERROR {status}: {text}")
        self.status = status


def get_version() -> int:
    return 22703


def get_unique_id() -> bytes:
    """A name by which ranks find the hub, which waits for them from now on."""
    name = f"pcd-nccl-{uuid.uuid4().hex}"
    hub = _Hub(Listener("\0" + name, "AF_UNIX"))
    threading.Thread(target=hub.run, name="nccl hub", daemon=True).start()
    return name.encode().ljust(_ID_BYTES, b"\0")


@dataclass(frozen=True)
class _Call:
    """An operation of one rank: what all have to agree on, and its own memory."""

    name: str
    facts: tuple[int, ...]  # count, datatype, and what else there is: operation, root, peer
    send: tuple[int, int] | None  # pointer and bytes
    receive: tuple[int, int] | None
    stream: int


class _Group(threading.local):
    """What this thread has called since ``groupStart``."""

    depth = 0

    def __init__(self) -> None:
        self.calls: list[tuple[NcclCommunicator, _Call]] = []


_group = _Group()


def groupStart() -> None:
    _group.depth += 1


def groupEnd() -> None:
    _group.depth -= 1
    if _group.depth == 0 and _group.calls:
        calls, _group.calls = _group.calls, []
        for communicator in dict.fromkeys(who for who, _ in calls):
            communicator._run([call for who, call in calls if who is communicator])


class NcclCommunicator:
    """A rank, on the device that is this thread's."""

    def __init__(self, ndev: int, commId: bytes, rank: int) -> None:
        if len(commId) != _ID_BYTES or not 0 <= rank < ndev:
            raise NcclError(_INVALID_USAGE, f"rank {rank} of {ndev}, an id of {len(commId)} bytes")
        self._rank, self._size, self._device = rank, ndev, runtime.getDevice()
        self._known = Clock()  # of the streams that it was called on
        try:
            self._hub: Connection | None = Client("\0" + commId.rstrip(b"\0").decode(), "AF_UNIX")
            self._hub.send((rank, ndev, self._device))
        except OSError as e:
            raise NcclError(_SYSTEM_ERROR, f"the rank that made the id is gone ({e})") from e
        self._hear()

    def rank_id(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size

    def device_id(self) -> int:
        return self._device

    def destroy(self) -> None:
        if self._hub is not None:
            self._hub.close()
            self._hub = None

    def abort(self) -> None:
        """Leave at once: what is under way ends here, and the others hear of it in theirs."""
        self.destroy()
        HOST_CLOCK.learn(self._known)

    def check_async_error(self) -> None:
        if self._hub is None:
            raise NcclError(_INVALID_USAGE, "the communicator is gone")

    # -- operations --------------------------------------------------------------------------

    def allReduce(
        self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int
    ) -> None:
        size = count * _width(datatype)
        _alike(sendbuf, recvbuf, size, size, 0)
        self._call("allReduce", (count, datatype, op), (sendbuf, size), (recvbuf, size), stream)

    def reduceScatter(
        self, sendbuf: int, recvbuf: int, recvcount: int, datatype: int, op: int, stream: int
    ) -> None:
        part = recvcount * _width(datatype)
        _alike(sendbuf, recvbuf, self._size * part, part, self._rank * part)
        send, receive = (sendbuf, self._size * part), (recvbuf, part)
        self._call("reduceScatter", (recvcount, datatype, op), send, receive, stream)

    def allGather(self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int) -> None:
        part = count * _width(datatype)
        _alike(recvbuf, sendbuf, self._size * part, part, self._rank * part)
        send, receive = (sendbuf, part), (recvbuf, self._size * part)
        self._call("allGather", (count, datatype), send, receive, stream)

    def broadcast(
        self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, stream: int
    ) -> None:
        size = count * _width(datatype)
        _alike(sendbuff, recvbuff, size, size, 0)
        send = (sendbuff, size) if root == self._rank else None
        self._call("broadcast", (count, datatype, root), send, (recvbuff, size), stream)

    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        send = (sendbuf, count * _width(datatype))
        self._call("send", (count, datatype, peer), send, None, stream)

    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        receive = (recvbuf, count * _width(datatype))
        self._call("recv", (count, datatype, peer), None, receive, stream)

    def _call(
        self,
        name: str,
        facts: tuple[int, ...],
        send: tuple[int, int] | None,
        receive: tuple[int, int] | None,
        stream: int,
    ) -> None:
        call = _Call(name, facts, send, receive, stream)
        if _group.depth:
            _group.calls.append((self, call))
        else:
            self._run([call])

    def _run(self, calls: Sequence[_Call]) -> None:
        """Bring what a group sends, wait for all ranks, and write what comes of it."""
        if self._hub is None:
            raise NcclError(_INVALID_USAGE, "the communicator is gone")
        brought = []
        for call in calls:
            COUNTS["nccl"] += 1
            stream = stream_at(call.stream)
            now = stream.begin(call.name)
            self._known.learn(stream.clock)
            if call.receive:
                memory_at(*call.receive).block.write(stream.number, stream.clock, now)
            if call.send:
                memory_at(*call.send).block.read(stream.number, stream.clock, now)
            brought.append((call.name, call.facts, _bytes(call.send)))
        try:
            self._hub.send(brought)
        except OSError as e:
            raise NcclError(_REMOTE_ERROR, "another rank has left") from e
        for call, result in zip(calls, self._hear(), strict=True):
            if call.receive:
                ctypes.memmove(call.receive[0], result, call.receive[1])

    def _hear(self) -> Any:
        assert self._hub is not None
        try:
            status, answer = self._hub.recv()
        except (EOFError, OSError) as e:
            raise NcclError(_REMOTE_ERROR, "another rank has left") from e
        if status:
            raise NcclError(status, answer)
        return answer


def _width(datatype: int) -> int:
    return np.dtype(_TYPES[datatype]).itemsize


def _bytes(where: tuple[int, int] | None) -> bytes | None:
    return ctypes.string_at(*where) if where else None


def _alike(whole: int, part: int, whole_size: int, part_size: int, place: int) -> None:
    """The part is at its place in the whole, or they do not touch."""
    apart = part + part_size <= whole or whole + whole_size <= part
    if not apart and part != whole + place:
        raise NcclError(_INVALID_USAGE, "buffers overlap, and not as in-place operations do")


# -- the hub ---------------------------------------------------------------------------------------

_Brought = list[tuple[str, tuple[int, ...], bytes]]


class _Usage(Exception):
    """Ranks do not fit together."""


class _Hub:
    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def run(self) -> None:
        """Until a rank leaves: then all are told, and must leave too."""
        ranks: dict[int, Given] = {}
        try:
            self._meet(ranks)
            while True:
                self._answer(ranks, _results([ranks[r].recv() for r in range(len(ranks))]))
        except _Usage as e:
            self._refuse(ranks, _INVALID_USAGE, str(e))
        except (EOFError, OSError):
            self._refuse(ranks, _REMOTE_ERROR, "another rank has left")
        finally:
            self._listener.close()

    def _meet(self, ranks: dict[int, Given]) -> None:
        devices: dict[int, int] = {}
        size = 1
        while len(ranks) < size:
            connection = self._listener.accept()
            rank, size, device = connection.recv()
            ranks[rank] = connection
            if device in devices.values():
                raise _Usage(f"duplicate GPU: rank {rank} and another are on device {device}")
            devices[rank] = device
        self._answer(ranks, [None] * size)

    @staticmethod
    def _answer(ranks: dict[int, Given], answers: Sequence[Given]) -> None:
        for rank, answer in enumerate(answers):
            ranks[rank].send((0, answer))

    @staticmethod
    def _refuse(ranks: dict[int, Given], status: int, text: str) -> None:
        for connection in ranks.values():
            with contextlib.suppress(OSError):
                connection.send((status, text))
            connection.close()


def _results(everybody: Sequence[_Brought]) -> list[list[Given]]:
    """What each rank gets for each of its calls."""
    mail: dict[tuple[int, int], deque[bytes]] = defaultdict(deque)
    for rank, brought in enumerate(everybody):
        for name, facts, payload in brought:
            if name == "send":
                mail[rank, facts[-1]].append(payload)
    results: list[list[Given]] = [[None] * len(brought) for brought in everybody]
    collective: list[list[tuple[int, str, tuple[int, ...], bytes]]] = [[] for _ in everybody]
    for rank, brought in enumerate(everybody):
        for i, (name, facts, payload) in enumerate(brought):
            if name == "recv":
                box = mail[facts[-1], rank]
                if not box:
                    raise _Usage(f"rank {rank} waits for rank {facts[-1]}, who sends nothing")
                results[rank][i] = box.popleft()
            elif name != "send":
                collective[rank].append((i, name, facts, payload))
    counts = {len(calls) for calls in collective}
    if len(counts) > 1:
        raise _Usage("ranks call different numbers of operations")
    for calls in zip(*collective, strict=True):
        if len({(name, facts) for _, name, facts, _ in calls}) > 1:
            raise _Usage(f"ranks call different operations: {[c[1:3] for c in calls]}")
        _, name, facts, _ = calls[0]
        parts = _combine(name, facts, [payload for *_, payload in calls])
        for rank, (i, *_) in enumerate(calls):
            results[rank][i] = parts[rank]
    return results


def _combine(name: str, facts: tuple[int, ...], payloads: list[bytes]) -> list[bytes]:
    ranks = len(payloads)
    if name == "broadcast":
        return [payloads[facts[-1]]] * ranks
    if name == "allGather":
        return [b"".join(payloads)] * ranks
    arrays = [np.frombuffer(payload, _TYPES[facts[1]]) for payload in payloads]
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    if facts[2] == NCCL_AVG:
        total /= ranks
    if name == "allReduce":
        return [total.tobytes()] * ranks
    return [part.tobytes() for part in total.reshape(ranks, facts[0])]
