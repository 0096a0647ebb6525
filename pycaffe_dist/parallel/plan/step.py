"""How long a step takes: exchanges beside forward and backward, simulated layer by layer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.cost import VALUE
from pycaffe_dist.parallel.plan.links import Links


@dataclass(frozen=True)
class Transfer:
    """An exchange that starts after a layer's backward, and that its next forward waits for.

    Attributes:
        link, work, handling: seconds, as in Cost.
        bytes: sent by the rank that sends most.
    """

    layer: int
    link: float
    work: float
    bytes: int = 0
    name: str = ""
    scheme: str = ""
    handling: float = 0.0

    @property
    def taken(self) -> float:
        """The share of the processor that it takes while it has the link."""
        return self.handling / self.link if self.handling else 0.0


@dataclass(frozen=True)
class LayerTimes:
    """Seconds of each layer."""

    forward: tuple[float, ...]
    backward: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.forward) + sum(self.backward)

    def scaled(self, factor: float) -> LayerTimes:
        forward, backward = (tuple(factor * s for s in t) for t in (self.forward, self.backward))
        return LayerTimes(forward, backward)


@dataclass(frozen=True)
class Schedule:
    """What a rank computes and exchanges in a step.

    Attributes:
        times: of the layers.
        transfers: in the order in which they take the link, the lowest layer last.
        overlap: DWBP; without it exchanges start when backward has ended, and forward waits for
            all of them.
        barrier: updates wait for the last exchange (``clip_gradients``).
        staleness: iterations a rank may be ahead; with more than 0, forward may use older values.
        passes: forward and backward in a step (``iter_size``); exchanges start in the last.
    """

    times: LayerTimes
    transfers: tuple[Transfer, ...]
    overlap: bool = True
    barrier: bool = False
    staleness: int = 0
    passes: int = 1

    @property
    def compute(self) -> float:
        """Seconds of all passes of a step."""
        return self.passes * self.times.total

    @property
    def link(self) -> float:
        """Seconds of all exchanges on the link."""
        return sum(transfer.link for transfer in self.transfers)

    @property
    def work(self) -> float:
        """Seconds of the processor for all exchanges, when their bytes are there."""
        return sum(transfer.work for transfer in self.transfers)

    @property
    def handling(self) -> float:
        """Seconds of the processor for the bytes of all exchanges, on their way."""
        return sum(transfer.handling for transfer in self.transfers)


def step_seconds(schedule: Schedule) -> float:
    """Expected seconds from one backward to the next.

    A rank is one processor and one link.  Backward runs layer by layer; each exchange takes the
    link in its turn, from the moment its gradient is there, and meanwhile a share of the processor;
    then the whole processor for its work; the next forward waits for a layer's exchange when it
    gets to that layer.  Where staleness is allowed, only the busier of processor and link counts.
    """
    if schedule.staleness:
        return max(schedule.link, schedule.compute + schedule.work + schedule.handling)
    if not schedule.overlap:
        return schedule.compute + schedule.link + schedule.work
    times = schedule.times
    before = (schedule.passes - 1) * times.total
    return _overlapped(times, schedule.transfers, before, schedule.barrier)


def _overlapped(
    times: LayerTimes, transfers: Sequence[Transfer], now: float, barrier: bool
) -> float:
    """When the forward after a backward that begins at ``now`` is over."""
    free = 0.0  # when the link is
    processor = _Processor()
    running: deque[tuple[float, Transfer]] = deque()  # by when they leave the link
    waiting = deque(transfers)
    for i in reversed(range(len(times.backward))):
        now = processor.compute(now, times.backward[i])
        while waiting and waiting[0].layer >= i:
            begin = max(free, now)
            free = begin + waiting[0].link
            processor.take(begin, free, waiting[0].taken)
            running.append((free, waiting.popleft()))
        now = _work_on(running, processor, now)
    if barrier:
        now = _work_on(running, processor, max(now, free))
    for i, seconds in enumerate(times.forward):
        while running and running[-1][1].layer <= i:  # the last has the lowest layer
            done, transfer = running.popleft()
            now = processor.compute(max(now, done), transfer.work)
        now = processor.compute(_work_on(running, processor, now), seconds)
    return now


class _Processor:
    """A rank's, of which exchanges take a share while they have the link."""

    def __init__(self) -> None:
        self._taken: deque[tuple[float, float, float]] = deque()  # begin, end, share

    def take(self, begin: float, end: float, share: float) -> None:
        if share:
            self._taken.append((begin, end, share))

    def compute(self, now: float, seconds: float) -> float:
        """When so many seconds of computing are over that begin now."""
        while self._taken and self._taken[0][1] <= now:
            self._taken.popleft()
        for begin, end, share in self._taken:
            before = max(0.0, begin - now)
            if seconds <= before:
                break
            now, seconds = now + before, seconds - before
            room = (end - now) * (1 - share)
            if seconds < room:
                return now + seconds / (1 - share)
            now, seconds = end, seconds - room
        return now + seconds


def _work_on(running: deque[tuple[float, Transfer]], processor: _Processor, now: float) -> float:
    """Do the work of the exchanges that have arrived."""
    while running and running[0][0] <= now:
        now = processor.compute(now, running.popleft()[1].work)
    return now


def layer_times(net: Net, links: Links) -> LayerTimes:
    """As measured, or guessed: a layer is bound by its flops or by its memory.

    Backward of a layer with parameters is two such passes, one for its weights and one, where it
    is needed, for its bottoms.
    """
    if links.forward is not None and links.backward is not None:
        return LayerTimes(
            tuple(ms / 1e3 for ms in links.forward), tuple(ms / 1e3 for ms in links.backward)
        )
    forward, backward = [], []
    for i, layer in enumerate(net.layers):
        bottoms, tops = net.bottoms[i], net.tops[i]
        moved = sum(v.count for v in (*bottoms, *tops, *layer.params)) if bottoms else 0
        one = max(
            layer.flops(bottoms, tops) / links.gemm_flops, VALUE * moved / links.memory_bandwidth
        )
        passes = any(layer.param_propagate_down) + any(net.bottom_need_backward[i])
        forward.append(one if bottoms else 0.0)
        backward.append(passes * one if net.layer_need_backward[i] else 0.0)
    return LayerTimes(tuple(forward), tuple(backward))
