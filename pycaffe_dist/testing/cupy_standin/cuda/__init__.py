"""``cupy.cuda`` of the stand-in: devices, streams, events, pinned memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import TracebackType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from pycaffe_dist.testing.cupy_standin import runtime
from pycaffe_dist.testing.cupy_standin.given import Given
from pycaffe_dist.testing.cupy_standin.memory import COUNTS, HOST_CLOCK, Clock

__all__ = [
    "Device",
    "Event",
    "Stream",
    "alloc_pinned_memory",
    "get_cublas_handle",
    "get_current_stream",
    "get_elapsed_time",
    "is_available",
    "runtime",
]

_numbers = count()
_streams: WeakValueDictionary[int, Stream] = WeakValueDictionary()  # by the pointer


LATE = [False]  # the last: whether events are done only when the host has waited


@contextmanager
def late() -> Iterator[None]:
    """As on hardware, where what was issued is under way: nothing is done before a wait for it."""
    LATE.append(True)
    try:
        yield
    finally:
        LATE.pop()


class Event:
    """A place in a stream: what was known to be done there."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self.clock: Clock | None = None  # None: not recorded
        self.time = 0.0
        self.timed = not disable_timing

    @property
    def done(self) -> bool:
        """True, as work is done at once here; and who has asked knows.

        While ``LATE`` it is not, before the host has waited for that or for something later.
        """
        if self.clock is None:
            return True
        if LATE[-1] and not self._known():
            return False
        HOST_CLOCK.learn(self.clock)
        return True

    def _known(self) -> bool:
        """Whether the host has waited for it."""
        return all(HOST_CLOCK[n] >= count for n, count in (self.clock or {}).items())

    def record(self, stream: Stream | None = None) -> None:
        (stream or get_current_stream()).record(self)

    def synchronize(self) -> None:
        COUNTS["synchronise"] += 1
        if self.clock is not None:
            HOST_CLOCK.learn(self.clock)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds; work is done at once here, when it is issued."""
    for event in (start_event, end_event):
        if not event.timed or event.clock is None:
            raise runtime.CUDARuntimeError("cudaErrorInvalidResourceHandle: an event without time")
        if LATE[-1] and not event._known():
            raise runtime.CUDARuntimeError("cudaErrorNotReady: device not ready")
    return 1e3 * (end_event.time - start_event.time)


class Stream:
    """A queue of work, in order within itself only."""

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        self.number = next(_numbers)
        self.device = None if null else runtime.getDevice()  # the default stream is every device's
        self.ptr = 0 if null else self.number
        _streams[self.ptr] = self
        self.clock = Clock()
        self.log: list[str] = []
        self._outer: list[Stream] = []

    def begin(self, what: str) -> int:
        """Enter a piece of work; its number.  The host's word reaches every stream."""
        self.clock.learn(HOST_CLOCK)
        self.clock[self.number] += 1
        self.log.append(what)
        del self.log[:-1000]
        return self.clock[self.number]

    def use(self) -> Stream:
        if self.device not in (None, runtime.getDevice()):
            raise runtime.CUDARuntimeError(
                f"the stream is of device {self.device}, and the current device is "
                f"{runtime.getDevice()}"
            )
        _current.stream = self
        return self

    def __enter__(self) -> Stream:
        self._outer.append(get_current_stream())
        return self.use()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        _current.stream = self._outer.pop()

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.clock = Clock(self.clock)
        event.time = time.perf_counter()
        return event

    def wait_event(self, event: Event) -> None:
        if event.clock is not None:
            self.clock.learn(event.clock)

    def synchronize(self) -> None:
        COUNTS["synchronise"] += 1
        HOST_CLOCK.learn(self.clock)


class _Current(threading.local):
    def __init__(self) -> None:
        self.stream = NULL


NULL = Stream(null=True)
_current = _Current()


def get_cublas_handle() -> int:
    """Each thread has one for each device."""
    return 1 + 2 * threading.get_ident() * runtime.DEVICES + runtime.getDevice()


def get_current_stream(device_id: int = -1) -> Stream:
    return _current.stream


def stream_at(pointer: int) -> Stream:
    """The stream that a library is given as a number."""
    if pointer not in _streams:
        raise ValueError(f"{pointer} is no stream's pointer")
    return _streams[pointer]


class Device:
    """A device by its number."""

    def __init__(self, device: int | None = None) -> None:
        self.id = runtime.getDevice() if device is None else int(device)

    def use(self) -> None:
        runtime.setDevice(self.id)

    def synchronize(self) -> None:
        COUNTS["synchronise"] += 1

    @property
    def pci_bus_id(self) -> str:
        return f"0000:{self.id + 1:02X}:00.0"

    @property
    def compute_capability(self) -> str:
        properties = runtime.getDeviceProperties(self.id)
        return f"{properties['major']}{properties['minor']}"


class Pinned(np.ndarray[Any, Any]):
    """Host memory that a copy may run to or from while others continue."""


def alloc_pinned_memory(size: int) -> memoryview:
    if not runtime.DEVICES:
        raise runtime.CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    COUNTS["pinned"] += 1
    return memoryview(np.empty(size, np.uint8).view(Pinned))


def is_pinned(array: Given) -> bool:
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, Pinned)


def is_available() -> bool:
    return runtime.getDeviceCount() > 0
