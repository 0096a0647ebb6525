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
    """An exchange that starts after a layer's backward, and that its next forward waits for."""

    layer: int
    link: float
    work: float
    bytes: int = 0  # sent by the rank that sends most
    name: str = ""
    scheme: str = ""


@dataclass(frozen=True)
class LayerTimes:
    """Seconds of each layer."""

    forward: tuple[float, ...]
    backward: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.forward) + sum(self.backward)


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
        """Seconds of the processor for all exchanges."""
        return sum(transfer.work for transfer in self.transfers)


def step_seconds(schedule: Schedule) -> float:
    """Expected seconds from one backward to the next.

    A rank is one processor and one link.  Backward runs layer by layer; each exchange takes the
    link in its turn, from the moment its gradient is there, and then the processor for its work;
    the next forward waits for a layer's exchange when it gets to that layer.  Where staleness is
    allowed, only the busier of processor and link counts.
    """
    if schedule.staleness:
        return max(schedule.link, schedule.compute + schedule.work)
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
    running: deque[tuple[float, Transfer]] = deque()  # by when they leave the link
    waiting = deque(transfers)
    for i in reversed(range(len(times.backward))):
        now += times.backward[i]
        while waiting and waiting[0].layer >= i:
            free = max(free, now) + waiting[0].link
            running.append((free, waiting.popleft()))
        now = _work_on(running, now)
    if barrier:
        now = _work_on(running, max(now, free))
    for i, seconds in enumerate(times.forward):
        while running and running[-1][1].layer <= i:  # the last has the lowest layer
            done, transfer = running.popleft()
            now = max(now, done) + transfer.work
        now = _work_on(running, now) + seconds
    return now


def _work_on(running: deque[tuple[float, Transfer]], now: float) -> float:
    """Do the work of the exchanges that have arrived."""
    while running and running[0][0] <= now:
        now += running.popleft()[1].work
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
