"""Batches made ahead of the training loop, by threads, into buffers that are used again and again.

One thread takes records and random numbers in order, so that batches are the same with any number
of threads; the others help it to decode and transform.

States of a batch
-----------------
*free* (in ``_free``), *loading* (with the thread, which is in ``load``), *full* (in ``_full``, in
the order of the records), *current* (``_current``: the net reads it).  ``next`` makes the current
one free and the oldest full one current.  depth + 1 batches go round; no other is ever made.  A
batch with an ``error`` is the last: the thread ends behind it, and ``next`` raises the error.

Who owns what
-------------
A batch belongs to whoever has taken it out of a queue, and the two queues are all that is shared:
there is no lock.  The layer's readers and random numbers belong to the thread; the main thread
knows where they are only by ``Batch.state``, of the batch that it has.  The thread holds the layer
by a weak reference, and only while it loads, so that a net nobody uses any more ends its thread;
``None`` in ``_free`` and ``stopping`` end it at once.  In a forked process there is no thread:
``process`` tells, and ``abandon`` keeps the child from waiting for it.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TypeVar

from pycaffe_dist import caffe_log as log
from pycaffe_dist.aliases import DeviceArray, DType, Facts
from pycaffe_dist.blob import Blob

STARVED = 0.2  # of the time; more is worth a word
ENOUGH_BATCHES = 100  # to tell
EXIT_SECONDS = 2.0  # that a thread is given to end its batch when the process exits

T = TypeVar("T")


# -- a batch ---------------------------------------------------------------------------------------


@dataclass
class Batch:
    """Room for a batch, and what there is to know about the one in it."""

    data: Blob
    labels: Blob
    state: Facts = field(default_factory=dict)  # of the layer, behind this batch
    restarts: int = 0  # of the source, up to here
    skipped: list[str] = field(default_factory=list)  # what was wrong with bad records
    error: BaseException | None = None
    extra: Blob | None = None  # a third top, of layers that have one
    raw: DeviceArray = None  # the images untransformed, where that is left to a device

    @classmethod
    def of_type(cls, dtype: DType) -> Batch:
        return cls(Blob(dtype=dtype), Blob(dtype=dtype))


class Prefetcher:
    """A thread that calls ``load(batch)`` for up to ``depth`` batches ahead.

    It ends with the object that ``load`` is a method of, with the process, and after an error.
    """

    def __init__(self, load: Callable[[Batch], None], dtype: DType, depth: int) -> None:
        self.process = os.getpid()
        self.batches = 0
        self.waited = 0.0
        self._told = False
        self._begin = 0.0
        self._current: Batch | None = None
        self._free: SimpleQueue[Batch | None] = SimpleQueue()
        self._full: SimpleQueue[Batch] = SimpleQueue()
        for _ in range(depth + 1):  # one is with the net
            self._free.put(Batch.of_type(dtype))
        owner = load.__self__  # type: ignore[attr-defined]
        stopping = threading.Event()
        self._thread = threading.Thread(
            target=_keep_loading,
            args=(weakref.WeakMethod(load), self._free, self._full, stopping),
            name="pcd-data",
            daemon=True,
        )
        self._stop = weakref.finalize(owner, _stop, self._thread, self._free, stopping)
        self._thread.start()

    def next(self) -> Batch:
        """The next batch; the one before is given back.  What went wrong in the thread is raised.

        After an error there is no next.
        """
        if self._current:
            self._free.put(self._current)
            self._current = None
        asked = time.perf_counter()
        batch = self._full.get()
        now = time.perf_counter()
        if batch.error:
            raise batch.error
        if self.batches:
            self.waited += now - asked
        else:
            self._begin = now  # the first one could not be made ahead
        self.batches += 1
        self._current = batch
        return batch

    def starvation(self) -> float:
        """The share of the time since the first batch that was spent waiting for the next."""
        passed = time.perf_counter() - self._begin
        return self.waited / passed if self.batches > 1 else 0.0

    def tell_starvation(self, threads: int = 1) -> None:
        """Say once if the net has to wait too much with so many threads."""
        if self._told or self.batches % ENOUGH_BATCHES or self.starvation() <= STARVED:
            return
        self._told = True
        log.warning(
            "base_data_layer.cpp",
            "training waited for data %d %% of the time; try --data-threads %d",
            round(100 * self.starvation()),
            max(4, 2 * threads),
        )

    def close(self) -> None:
        """End the thread; batches that were made ahead are dropped."""
        self._stop()
        self._thread.join()

    def abandon(self) -> None:
        """In a forked process, where the thread is not."""
        self._stop.detach()


def _keep_loading(
    load_of: weakref.WeakMethod[Callable[[Batch], None]],
    free: SimpleQueue[Batch | None],
    full: SimpleQueue[Batch],
    stopping: threading.Event,
) -> None:
    while (batch := free.get()) is not None and not stopping.is_set():
        load = load_of()
        if load is None:
            return
        try:
            load(batch)
        except BaseException as e:
            batch.error = e
        # While it waits, the thread keeps nobody alive.
        del load
        full.put(batch)
        if batch.error:
            return
        del batch


def _stop(
    thread: threading.Thread, free: SimpleQueue[Batch | None], stopping: threading.Event
) -> None:
    stopping.set()
    free.put(None)
    if thread.ident and thread is not threading.current_thread():  # None: could not be started
        thread.join(EXIT_SECONDS)


# -- helpers ---------------------------------------------------------------------------------------


def share_out(work: Callable[[T], None], parts: Sequence[T], threads: int) -> None:
    """Do ``work`` on all parts, in this thread and others; of several errors the first's counts."""
    remaining = iter(list(enumerate(parts)))
    errors: list[tuple[int, BaseException]] = []

    def help_out() -> None:
        for i, part in remaining:
            try:
                work(part)
            except BaseException as e:
                errors.append((i, e))
            if errors:
                return

    helpers = [
        threading.Thread(target=help_out, name="pcd-decode", daemon=True)
        for _ in range(min(threads, len(parts)) - 1)
    ]
    for helper in helpers:
        helper.start()
    help_out()
    for helper in helpers:
        helper.join()
    if errors:
        raise min(errors, key=lambda error: error[0])[1]
