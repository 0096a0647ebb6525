"""What an exchange costs: bytes on a link, and work of a rank.

P ranks on n nodes, r to a node; V values, w bytes each on the wire; an inner product's gradient is
M x N, made of factors with K rows a rank, K (M+N) = F values.  Only the leaders of nodes send.
The parts of costs are here; each scheme adds up its own (``Scheme.exchange_cost``), and the table
of all is in docs/sacp.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pycaffe_dist.parallel.plan.links import AlphaBeta, Links

VALUE = 4  # bytes of a value in memory
WORDS = 5  # with which the ranks of a node wait for each other in one exchange
MOST_TAKEN = 0.9  # of a processor that computes, by the bytes that it moves meanwhile
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
    """What an exchange costs.

    Attributes:
        bytes: sent by the busiest rank.
        link: seconds on its link.
        work: seconds of a rank's processor when the bytes are there.
        handling: seconds of it, out of those on the link, in which it moves the bytes.
    """

    bytes: int
    link: float
    work: float
    handling: float = 0.0

    @property
    def seconds(self) -> float:
        return self.link + self.work


@dataclass(frozen=True)
class CostModel:
    """Who exchanges over what, in which format, and what the parts of an exchange cost there.

    Attributes:
        wire: bytes of a value that travels.
        histories: of the solver's rule, a value.
        stale: whether ranks may be ahead of each other.
        options: of schemes, by the names of their flags.
    """

    ranks: int
    nodes: int
    links: Links
    wire: int = VALUE
    histories: int = 1
    stale: bool = False
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def per_node(self) -> int:
        return math.ceil(self.ranks / self.nodes)

    def update(self, values: float) -> float:
        """Data, diff and histories are read and written."""
        return self.touch(2 * (2 + self.histories) * values)

    def touch(self, values: float) -> float:
        """Values are read from memory, or written to it."""
        return VALUE * values / self.links.memory_bandwidth

    def rebuild(self, load: Load) -> float:
        """The GEMM over the rows of all other ranks."""
        return (self.ranks - 1) * load.flops / self.links.gemm_flops

    def through_node(self, load: Load) -> float:
        """Into memory that ranks share, and out again; they copy, so it is work."""
        if self.per_node == 1:
            return 0.0
        return _seconds(self.links.within, VALUE * load.values, WORDS)

    def on_link(self, size: float, messages: int) -> float:
        """Seconds that bytes take between nodes."""
        return _seconds(self.links.between, size, messages)

    def sending(self, sent: float, messages: int, work: float) -> Cost:
        """Bytes sent in so many messages by the busiest, besides ``work`` seconds of computing."""
        handling = sent * self.links.handling
        link = max(self.on_link(sent, messages), handling / MOST_TAKEN)
        return Cost(round(sent), link, work, handling)

    def dense(self, load: Load, update: float) -> Cost:
        """The node adds up in its memory, each rank a part; leaders exchange; all copy it out."""
        sent = 2 * (self.nodes - 1) / self.nodes * self.wire * load.values
        others = (self.per_node - 1) / self.per_node + (self.nodes - 1) / self.nodes
        added = self.touch(3 * others * load.values)
        return self.sending(sent, 2 * (self.nodes - 1), update + added + self.through_node(load))


def _seconds(link: AlphaBeta, size: float, messages: int) -> float:
    return messages * link.alpha + size * link.beta
