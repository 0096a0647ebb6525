"""Device memory of the stand-in: a pool that counts, and who may touch what when.

Every piece of memory knows the last write and the last reads, and on which stream.  Work on another
stream must come after them: by an event that it waited for, or by a host that did.  So a missing
``wait_event`` is an error here, and not a wrong number now and then on hardware.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from weakref import WeakValueDictionary

from pycaffe_dist.testing.cupy_standin.given import Given

ROUND = 512  # bytes: CuPy's pool hands out multiples of it

COUNTS: Counter[str] = Counter()  # synchronise, to_host, to_device, malloc, request, launch


class RaceError(AssertionError):
    """Two streams touch the same memory, and nothing says which is first."""


class Clock(defaultdict[int, int]):
    """How much of each stream's work is known to be done, by the stream's number."""

    _lock = threading.Lock()  # ranks that are threads have one host, and it has one clock

    def __init__(self, known: dict[int, int] | None = None) -> None:
        super().__init__(int, known or {})

    def learn(self, other: dict[int, int]) -> None:
        with self._lock:
            for stream, count in other.items():
                self[stream] = max(self[stream], count)


HOST_CLOCK = Clock()  # what the host has waited for


class Block:
    """Memory from ``cudaMalloc``.  Freed, it goes back to the pool of the stream it came from."""

    __slots__ = ("reads", "size", "stream", "written")

    def __init__(self, size: int, stream: int) -> None:
        self.size, self.stream = size, stream
        self.written: tuple[int, int] | None = None
        self.reads: dict[int, int] = {}

    def read(self, stream: int, clock: Clock, now: int) -> None:
        self._after(self.written, stream, clock, "reads what is being written")
        self.reads[stream] = now

    def write(self, stream: int, clock: Clock, now: int) -> None:
        self._after(self.written, stream, clock, "writes what is being written")
        for other in self.reads.items():
            self._after(other, stream, clock, "writes what is being read")
        self.written = (stream, now)
        self.reads.clear()

    @staticmethod
    def _after(before: tuple[int, int] | None, stream: int, clock: Clock, what: str) -> None:
        if before and before[0] != stream and clock[before[0]] < before[1]:
            raise RaceError(f"stream {stream} {what} on stream {before[0]}: no event is between")


class Pool:
    """CuPy's memory pool: freed blocks are kept, by stream and size, and handed out again."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, int], list[Block]] = defaultdict(list)
        self._used = 0
        self._total = 0

    def take(self, nbytes: int, stream: int) -> Block:
        COUNTS["request"] += 1
        size = -(-max(nbytes, 1) // ROUND) * ROUND
        free = self._free[stream, size]
        self._used += size
        if free:
            return free.pop()
        COUNTS["malloc"] += 1
        self._total += size
        return Block(size, stream)

    def give_back(self, block: Block) -> None:
        self._used -= block.size
        self._free[block.stream, block.size].append(block)

    def used_bytes(self) -> int:
        return self._used

    def total_bytes(self) -> int:
        return self._total

    def free_all_blocks(self) -> None:
        self._total -= sum(b.size for blocks in self._free.values() for b in blocks)
        self._free.clear()


POOL = Pool()


class Memory:
    """A block in use: it goes back to the pool with the last array that looks into it."""

    __slots__ = ("__weakref__", "begin", "block", "size")

    def __init__(self, begin: int, size: int, stream: int) -> None:
        self.begin, self.size = begin, size
        self.block = POOL.take(size, stream)
        IN_USE[begin] = self

    def __del__(self) -> None:
        block: Given = getattr(self, "block", None)
        if block is not None and POOL is not None:  # as it is when the interpreter ends
            POOL.give_back(block)


IN_USE: WeakValueDictionary[int, Memory] = WeakValueDictionary()  # by where it begins


def memory_at(pointer: int, size: int) -> Memory:
    """The memory that ``size`` bytes from ``pointer`` on lie in, as a library is given them."""
    memory = memory_around(pointer)
    if pointer + size > memory.begin + memory.size:
        raise ValueError(f"{size} bytes at {pointer:#x} are not within one array of the device")
    return memory


def memory_around(pointer: int) -> Memory:
    """The memory that an address is in."""
    whole = IN_USE.get(pointer)
    if whole:
        return whole
    for reference in IN_USE.valuerefs():
        memory = reference()
        if memory and memory.begin <= pointer < memory.begin + memory.size:
            return memory
    raise ValueError(f"{pointer:#x} is not within an array of the device")


class MemoryPointer:
    """Where an array begins."""

    __slots__ = ("mem", "ptr")

    def __init__(self, mem: Memory, ptr: int) -> None:
        self.mem, self.ptr = mem, ptr
