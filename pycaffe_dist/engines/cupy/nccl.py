"""NCCL: what the devices of all ranks do together, on a stream of their own.

Work between ``begin`` and its end starts when the compute stream has got to where it was issued,
and the compute stream continues beside it; ``Pending.wait`` makes it wait, there and not before.
The host waits for nothing.  All ranks issue the same operations in the same order.

States of an exchange
---------------------
*issued* (the host has put it on the communication stream, behind an event of the compute stream),
*running* (that event was reached, on this device and on the others), *ended* (its own last event
was reached), *awaited* (``Pending.wait``: the compute stream stands behind that event).  The host
sees only the first and the last; it knows of an end when it asks the event (``Pending.done``).

Who owns what
-------------
Only the main thread issues work, on both streams.  From ``begin`` to ``Pending.wait`` the arrays
of an exchange belong to the communication stream: nothing on the compute stream may write to them.
They may be given up after ``wait``: the order of the streams then keeps their memory from being
used too early.  A thread (``parallel.job.device_watch``) asks
whether the newest exchange has ended, and touches nothing else; it ends the job if that is late.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pycaffe_dist.aliases import DeviceArray
from pycaffe_dist.engines.cupy import backend
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command

if TYPE_CHECKING:
    from pycaffe_dist.engines.cupy.engine import CupyEngine


def library() -> Any:
    """CuPy's module for NCCL.

    Raises:
        MissingPartError: there is none.
    """
    xp = backend.cupy()
    with warnings.catch_warnings():  # CuPy's many lines on a library that it does not find
        warnings.simplefilter("ignore")
        module = importlib.import_module(f"{xp.__name__}.cuda.nccl")
    if not module.available:
        raise MissingPartError(
            f"CuPy finds no NCCL library. It comes with: {install_command('gpu')}"
        )
    return module


def version() -> str:
    """Of the library, as 2.27.3.

    Raises:
        MissingPartError: there is none.
    """
    number = library().get_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def new_id() -> bytes:
    """What rank 0 makes, and all ranks need, to find each other."""
    return bytes(library().get_unique_id())


class Pending:
    """Work on the communication stream, between two events."""

    def __init__(self, engine: CupyEngine, begun: DeviceArray, ended: DeviceArray) -> None:
        self._engine, self._begun, self._ended = engine, begun, ended
        self._wait: tuple[Any, Any] | None = None  # events around the compute stream's wait

    def wait(self) -> None:
        """What the compute stream is given from now on comes after it."""
        compute = self._engine.home.compute
        before = compute.record()
        compute.wait_event(self._ended)
        self._wait = before, compute.record()

    @property
    def done(self) -> bool:
        """Whether it is done by now; any thread may ask."""
        self._engine.enter()
        return bool(self._ended.done)

    def seconds(self) -> tuple[float, float] | None:
        """How long it took, and how long the compute stream stood still for it.

        None as long as that is not known: nobody waits for an answer.
        """
        if self._wait is None or not self._wait[1].done:
            return None
        elapsed = self._engine.xp.cuda.get_elapsed_time
        return elapsed(self._begun, self._ended) / 1e3, elapsed(*self._wait) / 1e3


class Nccl:
    """One rank's device among those of all ranks, each with a device of its own.

    Arrays are flat, contiguous and on the device.  16-bit ones travel as they are; only float32 and
    float64 are added up.

    Args:
        engine: of the device.
        rank, size: which of how many ranks this is.
        unique_id: rank 0's ``new_id``.
    """

    def __init__(self, engine: CupyEngine, rank: int, size: int, unique_id: bytes) -> None:
        self.engine, self.rank, self.size = engine, rank, size
        engine.enter()
        self._nccl = nccl = library()
        self._types = {
            "H": nccl.NCCL_FLOAT16,
            "f": nccl.NCCL_FLOAT32,
            "d": nccl.NCCL_FLOAT64,
        }
        self._communicator = nccl.NcclCommunicator(size, unique_id, rank)
        self.stream = engine.xp.cuda.Stream(non_blocking=True)
        self._ready = engine.xp.cuda.Event(disable_timing=True)

    def begin(self, issue: Callable[[], object]) -> Pending:
        """Let ``issue`` launch its work on the communication stream."""
        self.engine.enter()
        self._ready.record(self.engine.home.compute)
        self.stream.wait_event(self._ready)
        begun = self.stream.record()
        with self.stream:
            issue()
        return Pending(self.engine, begun, self.stream.record())

    def check(self) -> bool:
        """Whether ranks 1 … P add up to P(P + 1)/2 here: the host waits for it."""
        self.engine.enter()
        number = self.engine.xp.asarray(np.array([self.rank + 1.0], np.float32))
        self.begin(lambda: self.all_reduce([number], mean=False)).wait()
        return float(number.get()[0]) == self.size * (self.size + 1) / 2

    # -- operations, on the communication stream ---------------------------------------------

    def all_reduce(self, arrays: Sequence[DeviceArray], mean: bool) -> None:
        """Each array becomes its sum, or mean, over ranks."""
        with self._grouped():
            for x in arrays:
                where, kind = x.data.ptr, self._types[x.dtype.char]
                self._communicator.allReduce(
                    where, where, x.size, kind, self._operation(mean), self.stream.ptr
                )

    def reduce_scatter(self, whole: DeviceArray, part: DeviceArray, mean: bool) -> None:
        """Rank r gets, in ``part``, the sum over ranks of the r-th of P equal parts of theirs."""
        kind, operation = self._types[whole.dtype.char], self._operation(mean)
        self._communicator.reduceScatter(
            whole.data.ptr, part.data.ptr, part.size, kind, operation, self.stream.ptr
        )

    def all_gather(self, pairs: Sequence[tuple[DeviceArray, DeviceArray]]) -> None:
        """For each (part, whole): the parts of all ranks, one after the other, in ``whole``."""
        with self._grouped():
            for part, whole in pairs:
                kind = self._types[part.dtype.char]
                self._communicator.allGather(
                    part.data.ptr, whole.data.ptr, part.size, kind, self.stream.ptr
                )

    def all_to_all(self, mine: DeviceArray, theirs: DeviceArray) -> None:
        """The r-th of P equal parts of ``mine`` goes to rank r, whose part for us comes r-th."""
        with self._grouped():
            for r, (out, into) in enumerate(
                zip(self._parts(mine), self._parts(theirs), strict=True)
            ):
                self._send(out, r)
                self._receive(into, r)

    def gather(self, part: DeviceArray, whole: DeviceArray, root: int) -> None:
        """The parts of all ranks, in the root's ``whole``; its own is there already."""
        if self.rank != root:
            self._send(part, root)
            return
        with self._grouped():
            for r, into in enumerate(self._parts(whole)):
                if r != root:
                    self._receive(into, r)

    def broadcast(self, arrays: Sequence[DeviceArray], root: int) -> None:
        """What the root has."""
        with self._grouped():
            for x in arrays:
                where, kind = x.data.ptr, self._types[x.dtype.char]
                self._communicator.broadcast(where, where, x.size, kind, root, self.stream.ptr)

    def _operation(self, mean: bool) -> int:
        return int(self._nccl.NCCL_AVG if mean else self._nccl.NCCL_SUM)

    def _parts(self, whole: DeviceArray) -> Any:
        return whole.reshape(self.size, whole.size // self.size)

    def _send(self, array: DeviceArray, to: int) -> None:
        kind = self._types[array.dtype.char]
        self._communicator.send(array.data.ptr, array.size, kind, to, self.stream.ptr)

    def _receive(self, array: DeviceArray, source: int) -> None:
        kind = self._types[array.dtype.char]
        self._communicator.recv(array.data.ptr, array.size, kind, source, self.stream.ptr)

    @contextmanager
    def _grouped(self) -> Iterator[None]:
        """Operations that start as one."""
        self._nccl.groupStart()
        try:
            yield
        finally:
            self._nccl.groupEnd()

    # -- the end -----------------------------------------------------------------------------

    def close(self) -> None:
        """Take leave of the others, when everything is done."""
        self.stream.synchronize()
        self._communicator.destroy()

    def abort(self) -> None:
        """Leave at once: what waits for other ranks on the device ends, with anything in it."""
        self._communicator.abort()
