"""What this machine can do at most, measured: multiplications a second, and bytes.

Both are measured with the threads that compute, by kernels that do nothing else: fused
multiply-adds between registers, and passes over arrays that no cache holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from pycaffe_dist.engines.onednn.core.jit import FLOAT_BYTES, Code, Kernel, address, vector_width
from pycaffe_dist.memory import aligned
from pycaffe_dist.threads import threads

CHAINS = 12  # of multiply-adds that do not wait for each other, and fit into 16 registers
STEPS = 200_000  # of each chain in a run: some hundredths of a second on all threads
FLOATS = 1 << 26  # of an array: 256 MiB
UNROLLED = 4  # vectors in a turn of a loop over memory
ROUNDS = 5  # the fastest counts


@dataclass(frozen=True)
class Peaks:
    """FLOP/s of fp32 (a multiply-add is two) and bytes a second, with some threads."""

    threads: int
    flops: float
    bandwidth: float

    def seconds(self, flops: float, bytes_: float) -> float:
        """What this work takes at least."""
        return max(flops / self.flops, bytes_ / self.bandwidth)


def peaks() -> Peaks:
    """Measured once for each number of threads."""
    return _measured(threads())


@cache
def _measured(count: int) -> Peaks:
    source, target = (aligned(FLOATS, np.dtype(np.float32)) for _ in range(2))
    source.fill(1)
    target.fill(1)  # pages that nobody wrote to would all be one
    multiply, read, copy = multiplying(), reading(), copying()
    room = address(target)
    flops = 2 * CHAINS * STEPS * vector_width() * count
    vectors = FLOATS // (UNROLLED * vector_width())
    both = address(source), room, vectors
    return Peaks(
        count,
        flops / fastest(lambda: multiply(room, STEPS)),
        max(
            source.nbytes / fastest(lambda: read(*both)),
            2 * source.nbytes / fastest(lambda: copy(*both)),
        ),
    )


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def multiplying() -> Kernel:
    """x ← a·x + b in every chain; each thread writes the sum of its chains to a place of its own.

    Called with the address of 64 floats for each thread and the number of steps.
    """
    code = Code(2, vector_width())
    room, steps = code.arguments
    place = code.add(room, code.mul(code.thread(), 64 * FLOAT_BYTES))
    a, b = code.constant(0.5), code.load(place)
    before = code.build.block
    head, after = (code.build.append_basic_block() for _ in range(2))
    code.build.branch(head)
    code.build.position_at_end(head)
    step = code.build.phi(steps.type)
    chains = [code.build.phi(code.vector) for _ in range(CHAINS)]
    results = [code.fma(x, a, b) for x in chains]
    for x, result in zip(chains, results, strict=True):
        x.add_incoming(b, before)
        x.add_incoming(result, head)
    following = code.add(step, 1)
    step.add_incoming(steps.type(0), before)
    step.add_incoming(following, head)
    code.build.cbranch(code.all((following, "<", steps)), head, after)
    code.build.position_at_end(after)
    code.store(code.weighted([1.0] * CHAINS, results), place)
    return code.finish()


def reading() -> Kernel:
    """Read an array; called with its address, that of a result, and the turns of the loop."""
    code = Code(3, vector_width())
    source, result, turns = code.arguments
    size = FLOAT_BYTES * code.vector.count
    total = code.room(1)
    code.store(code.constant(0.0), total)
    begin, end = code.share(turns)
    with code.loop(begin, end) as turn:
        first = code.add(source, code.mul(turn, UNROLLED * size))
        loaded = [code.load(code.add(first, i * size)) for i in range(UNROLLED)]
        code.store(code.weighted([1.0] * (UNROLLED + 1), [*loaded, code.load(total)]), total)
    code.store(code.load(total), code.add(result, code.mul(code.thread(), 64 * FLOAT_BYTES)))
    return code.finish()


def copying() -> Kernel:
    """Copy an array past the caches; called with two addresses and the turns of the loop."""
    code = Code(3, vector_width())
    source, target, turns = code.arguments
    size = FLOAT_BYTES * code.vector.count
    begin, end = code.share(turns)
    with code.loop(begin, end) as turn:
        offset = code.mul(turn, UNROLLED * size)
        for i in range(UNROLLED):
            value = code.load(code.add(source, offset, i * size))
            code.store(value, code.add(target, offset, i * size), past_caches=True)
    return code.finish()
