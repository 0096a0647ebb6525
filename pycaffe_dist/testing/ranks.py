"""Several ranks in one process, a thread each, for tests of what ranks do together.

results = run_ranks(3, lambda communicator: ...)
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.transport.communicator import Communicator, Nodes, Request, as_bytes

T = TypeVar("T")


class _World:
    """What the ranks have in common: letter boxes and shared memory."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.boxes: dict[tuple[int, int, int], deque[Array]] = defaultdict(deque)
        self.shared: dict[tuple[int, int], Array] = {}


class _Sent:
    def test(self) -> bool:
        return True


class _Receive:
    def __init__(self, world: _World, box: tuple[int, int, int], into: Array) -> None:
        self._world, self._box, self._into = world, box, into
        # Receives of one box are served in the order in which they were posted.
        self._before: _Receive | None = None
        self._done = False

    def test(self) -> bool:
        if self._done:
            return True
        if self._before is not None and not self._before.test():
            return False
        with self._world.lock:
            box = self._world.boxes[self._box]
            if not box:
                return False
            message = box.popleft()
        self._into[: message.size] = message
        self._done, self._before = True, None
        return True


class ThreadCommunicator(Communicator):
    """A rank that is a thread."""

    def __init__(self, world: _World, rank: int, hosts: Sequence[str]) -> None:
        super().__init__(rank, len(hosts), Nodes.by_host(list(hosts)))
        self._world = world
        self._last: dict[tuple[int, int, int], _Receive] = {}
        self._windows = 0

    def _isend(self, array: Array, to: int, tag: int) -> Request:
        with self._world.lock:
            self._world.boxes[self.rank, to, tag].append(as_bytes(array).copy())
        return _Sent()

    def _irecv(self, array: Array, source: int, tag: int) -> Request:
        box = (source, self.rank, tag)
        receive = _Receive(self._world, box, as_bytes(array))
        receive._before = self._last.get(box)
        self._last[box] = receive
        return receive

    def share(self, count: int, dtype: DTypeLike) -> Array:
        key = (self.nodes.of_rank[self.rank], self._windows)
        self._windows += 1
        with self._world.lock:
            return self._world.shared.setdefault(key, np.zeros(count, dtype))

    def abort(self, code: int) -> None:
        raise SystemExit(code)

    def close(self) -> None:
        pass


def run_ranks(
    hosts: int | Sequence[str], work: Callable[[Communicator], T], seconds: float = 150
) -> list[T]:
    """What ``work`` returns on each rank.

    Args:
        hosts: the host of each rank, or how many ranks of a host each.
        work: done by every rank.
        seconds: after which ranks that are not through count as hanging.

    Raises:
        Exception: what the first rank that failed has raised.
        TimeoutError: ranks hang.
    """
    names = [f"host{i}" for i in range(hosts)] if isinstance(hosts, int) else list(hosts)
    world = _World()
    results: dict[int, T] = {}
    errors: dict[int, BaseException] = {}

    def rank(number: int) -> None:
        try:
            results[number] = work(ThreadCommunicator(world, number, names))
        except BaseException as e:
            errors[number] = e

    threads = [threading.Thread(target=rank, args=(i,), daemon=True) for i in range(len(names))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while any(thread.is_alive() for thread in threads) and not errors:
        if time.monotonic() > end:
            raise TimeoutError(
                f"ranks hang; through are {sorted(results)} of {len(names)}; they are at\n"
                + "\n".join(_where(thread) for thread in threading.enumerate())
            )
        time.sleep(1e-3)
    if errors:
        raise errors[min(errors)]
    return [results[i] for i in range(len(names))]


def _where(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    return f"{thread.name}:\n{''.join(traceback.format_stack(frame))}"
