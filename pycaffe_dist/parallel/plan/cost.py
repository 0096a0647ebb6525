"""What an exchange costs by each scheme, and how much of it a step hides.

P ranks on n nodes, r to a node; V values, w bytes each on the wire; an inner product's gradient is
M x N, made of factors with K rows a rank, K (M+N) = F values.  Only the leaders of nodes send:

    scheme      bytes sent by the busiest     work of a rank besides
    allreduce   2 (n-1)/n · wV                adding up; update of V
    sharded     2 (n-1)/n · wV                adding up; update of V / P
    sfb         (n-1) r · wF                  a GEMM of 2PK·MN flops; update of V
    sf-push     (n-1) · wV by the owner,      the owner: the GEMM; update of V
                who receives (n-1) r · wF
    updates     2 (n-1)/n · wV                adding to outboxes and from inboxes; update of V

Updates take the place of dense gradients where staleness is allowed; with sfb the others' gradients
are then one update more.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links

VALUE = 4  # bytes of a value in memory
WORDS = 5  # with which the ranks of a node wait for each other in one exchange
WIRE_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}


@dataclass(frozen=True)
class Load:
    """What is to be exchanged: ``values`` numbers that are the product of factors, if rows > 0."""

    values: int
    rows: int = 0
    outputs: int = 0
    inputs: int = 0

    @property
    def factors(self) -> int:
        """F = K (M+N)"""
        return self.rows * (self.outputs + self.inputs)

    @property
    def flops(self) -> int:
        """2K·MN: of the GEMM that makes one rank's gradient."""
        return 2 * self.rows * self.outputs * self.inputs


@dataclass(frozen=True)
class Cost:
    """Bytes sent by the busiest rank, seconds on its link, and seconds of computing."""

    bytes: int
    link: float
    work: float

    @property
    def seconds(self) -> float:
        return self.link + self.work


@dataclass(frozen=True)
class Cluster:
    """Who exchanges over what, in which format.

    Attributes:
        histories: of the solver's rule, a value.
        stale: whether ranks may be ahead of each other.
    """

    ranks: int
    nodes: int
    links: Links
    wire: int = VALUE
    histories: int = 1
    stale: bool = False

    @property
    def per_node(self) -> int:
        return math.ceil(self.ranks / self.nodes)

    # -- schemes -----------------------------------------------------------------------------

    def cost(self, scheme: str, load: Load) -> Cost:
        if self.ranks == 1:
            return Cost(0, 0.0, self.update(load.values))
        schemes = {
            "allreduce": self.allreduce,
            "sharded": self.sharded,
            "sfb": self.sfb,
            "sf-push": self.sf_push,
            "updates": self.updates,
        }
        return schemes[scheme](load)

    def allreduce(self, load: Load) -> Cost:
        return self._dense(load, self.update(load.values))

    def sharded(self, load: Load) -> Cost:
        return self._dense(load, self.update(load.values / self.ranks))

    def _dense(self, load: Load, update: float) -> Cost:
        """The node adds up in its memory, each rank a part; leaders exchange; all copy it out."""
        sent = 2 * (self.nodes - 1) / self.nodes * self.wire * load.values
        others = (self.per_node - 1) / self.per_node + (self.nodes - 1) / self.nodes
        added = self._touch(3 * others * load.values)
        return self._cost(sent, 2 * (self.nodes - 1), update + added + self._through_node(load))

    def sfb(self, load: Load) -> Cost:
        """The rank's own part of the gradient comes out of the same GEMM: it is no extra work."""
        sent = (self.nodes - 1) * self.per_node * self.wire * load.factors
        times = 2 if self.stale else 1
        update = times * self.update(load.values)
        work = self._touch(2 * load.factors) + self._rebuild(load) + update
        return self._cost(sent, (self.nodes - 1) * self.per_node, work)

    def sf_push(self, load: Load) -> Cost:
        """The owner's: it takes in everybody's factors, then sends everybody the matrix."""
        received = (self.nodes - 1) * self.per_node * self.wire * load.factors
        pushed = _seconds(self.links.between, received, (self.nodes - 1) * self.per_node)
        work = self._touch(2 * load.factors) + self._rebuild(load) + self.update(load.values)
        sent = (self.nodes - 1) * self.wire * load.values
        back = self._cost(sent, self.nodes - 1, work + self._through_node(load))
        return replace(back, link=pushed + back.link)

    def updates(self, load: Load) -> Cost:
        """To the hub and from it; values are added to an outbox, copied out, added up, taken in."""
        sent = 2 * (self.nodes - 1) / self.nodes * self.wire * load.values
        work = self.update(load.values) + self._touch(12 * load.values)
        return self._cost(sent, 2 * (self.nodes - 1), work + self._through_node(load))

    # -- parts -------------------------------------------------------------------------------

    def update(self, values: float) -> float:
        """Data, diff and histories are read and written."""
        return self._touch(2 * (2 + self.histories) * values)

    def _rebuild(self, load: Load) -> float:
        return (self.ranks - 1) * load.flops / self.links.gemm_flops

    def _through_node(self, load: Load) -> float:
        """Into memory that ranks share, and out again; they copy, so it is work."""
        if self.per_node == 1:
            return 0.0
        return _seconds(self.links.within, VALUE * load.values, WORDS)

    def _touch(self, values: float) -> float:
        return VALUE * values / self.links.memory_bandwidth

    def _cost(self, sent: float, messages: int, work: float) -> Cost:
        link = _seconds(self.links.between, sent, messages)
        return Cost(round(sent), link, work + sent * self.links.handling)


def _seconds(link: AlphaBeta, size: float, messages: int) -> float:
    return messages * link.alpha + size * link.beta


# -- a step ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """An exchange that starts after a layer's backward, and that its next forward waits for."""

    layer: int
    link: float
    work: float


@dataclass(frozen=True)
class LayerTimes:
    """Seconds of each layer."""

    forward: tuple[float, ...]
    backward: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.forward) + sum(self.backward)


def step_seconds(
    times: LayerTimes,
    jobs: Sequence[Job],
    *,
    overlap: bool = True,
    barrier: bool = False,
    stale: bool = False,
    passes: int = 1,
) -> float:
    """Expected seconds from one backward to the next.

    A rank is one processor and one link.  Backward runs layer by layer; each exchange takes the
    link in its turn, from the moment its gradient is there, and then the processor for its work;
    the next forward waits for a layer's exchange when it gets to that layer.

    Args:
        times: of the layers.
        jobs: in the order in which they take the link.
        overlap: DWBP; without it exchanges start when backward has ended, and forward waits for
            all of them.
        barrier: updates wait for the last exchange (``clip_gradients``).
        stale: forward may use older values, so that only the busier of processor and link counts.
        passes: forward and backward in a step (``iter_size``); exchanges start in the last.
    """
    link_total, work_total = sum(j.link for j in jobs), sum(j.work for j in jobs)
    if stale:
        return max(link_total, passes * times.total + work_total)
    if not overlap:
        return passes * times.total + link_total + work_total
    now = (passes - 1) * times.total
    free = 0.0  # when the link is
    running: deque[tuple[float, Job]] = deque()  # by the time at which the link is done with it
    waiting = deque(jobs)
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
            done, job = running.popleft()
            now = max(now, done) + job.work
        now = _work_on(running, now) + seconds
    return now


def _work_on(running: deque[tuple[float, Job]], now: float) -> float:
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
