"""What is exchanged where staleness is allowed: sums of updates, or factors of gradients.

Each of these items has clocks: how many iterations of a rank are in what has come from it.  The
communication thread delivers what comes; the main thread makes, and takes in when forward needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.engines.base import NUMPY
from pycaffe_dist.memory import HOST
from pycaffe_dist.parallel.exchange.factors import Factors
from pycaffe_dist.parallel.ssp.routes import Route, routes
from pycaffe_dist.parallel.transport.communicator import Nodes
from pycaffe_dist.parallel.transport.streams import CHUNK
from pycaffe_dist.parallel.transport.wire import Wire
from pycaffe_dist.solver import Solver


class Outbox(ABC):
    """What an item has for some ranks.

    Attributes:
        sent: the clock of what has left.
        weight: how much it is that waits, as it was last weighed.
    """

    sent = 0
    weight = 0.0

    def __init__(self, item: Item, to: tuple[int, ...]) -> None:
        self.item, self.to = item, to

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Whether something is to be sent."""

    @abstractmethod
    def weigh(self) -> None:
        """Estimate the mean update that waits."""

    @abstractmethod
    def size(self, wire: Wire) -> int:
        """Bytes of what ``take`` gives."""

    @abstractmethod
    def take(self, wire: Wire) -> tuple[Array, Array]:
        """The clocks and the content of the next message."""


class Item(ABC):
    """What has clocks of its own.

    Attributes:
        number: its column in the table of clocks.
        name: of its layers.
        layer: the lowest of them.
        largest: bytes of content in a message, at most.
        outboxes: of this rank.
    """

    scheme = ""
    largest: int
    outboxes: Sequence[Outbox]

    def __init__(self, number: int, solver: Solver, params: Sequence[int]) -> None:
        self.number, self.params = number, tuple(params)
        net = solver.net
        self.learnable = [net.params.learnable[p] for p in self.params]
        layers = sorted({param.owner[0] for param in self.learnable})
        self.layer, self.name = layers[0], "+".join(net.layer_names[i] for i in layers)
        self.dtype = self.learnable[0].blob.dtype

    @abstractmethod
    def deliver(self, clocks: Array, values: Array, near: bool) -> bool:
        """Keep what has come from a rank of this node, or of another; whether clocks advance."""

    @abstractmethod
    def slices(self, p: int) -> list[slice]:
        """What of a parameter it has, in pieces that stay in the cache."""

    def unpack(self, content: Array, wire: Wire) -> Array:
        return wire.unpack(content.view(wire.room(0, self.dtype).dtype))


@dataclass(eq=False)
class Piece:
    """Some values of a parameter, at their place in a block."""

    begin: int
    end: int
    at: slice
    arrived: bool = False  # something is in the inbox


class _Sum(Outbox):
    """Updates of several iterations, and of all ranks that the route covers, travel as one.

    A message leaves when the slowest of those ranks has got further: before, nobody could.
    """

    def __init__(self, item: Block, route: Route, ranks: int) -> None:
        super().__init__(item, route.to)
        self.covers = route.covers
        self._ranks = sorted(route.covers)
        self.values = np.zeros(item.count, item.dtype)
        self.clocks = np.zeros(ranks, np.int64)

    @property
    def clock(self) -> int:
        return int(self.clocks[self._ranks].min())

    @property
    def ready(self) -> bool:
        return self.clock > self.sent

    def weigh(self) -> None:
        self.weight = float(np.abs(self.values).mean())

    def size(self, wire: Wire) -> int:
        return self.values.size * wire.size(self.values.dtype)

    def take(self, wire: Wire) -> tuple[Array, Array]:
        """The difference between the sum and what the wire's format makes of it stays here."""
        packed = wire.pack(self.values)
        if wire.exact:
            packed = packed.copy()
            self.values[...] = 0
        else:
            self.values -= wire.unpack(packed)
        self.sent = self.clock
        return self.clocks.copy(), packed


class Block(Item):
    """Some values of the weights, of one parameter or of several small ones."""

    scheme = "updates"
    outboxes: list[_Sum]

    def __init__(
        self,
        number: int,
        solver: Solver,
        cuts: Sequence[tuple[int, int, int]],
        nodes: Nodes,
        rank: int,
    ) -> None:
        super().__init__(number, solver, [p for p, _, _ in cuts])
        self.rank = rank
        self.pieces: dict[int, Piece] = {}
        self.count = 0
        for p, begin, end in cuts:
            at = slice(self.count, self.count + end - begin)
            self.pieces[p] = Piece(begin, end, at)
            self.count = at.stop
        self.inbox = np.zeros(self.count, self.dtype)
        self.largest = self.inbox.nbytes
        hub = nodes.leaders[number % nodes.count]
        ranks = len(nodes.of_rank)
        self.outboxes = [_Sum(self, route, ranks) for route in routes(nodes, rank, hub)]

    def slices(self, p: int) -> list[slice]:
        return [slice(self.pieces[p].begin, self.pieces[p].end)]

    def add(self, p: int, update: Array) -> None:
        """An update of this rank."""
        piece = self.pieces[p]
        for box in self.outboxes:
            if self.rank in box.covers:
                box.values[piece.at] += update

    def take_in(self, p: int) -> None:
        """Take what has come for a parameter off its weights."""
        piece = self.pieces[p]
        if piece.arrived:
            data = self.learnable[self.params.index(p)].blob.data.reshape(-1)
            data[piece.begin : piece.end] -= self.inbox[piece.at]
            self.inbox[piece.at] = 0
            piece.arrived = False

    def made(self, clock: int) -> None:
        """All pieces of an iteration have been added."""
        for box in self.outboxes:
            if self.rank in box.covers:
                box.clocks[self.rank] = clock

    def deliver(self, clocks: Array, values: Array, near: bool) -> bool:
        self.inbox += values
        for piece in self.pieces.values():
            piece.arrived = True
        ranks = set(np.flatnonzero(clocks).tolist())
        for box in self.outboxes:
            if ranks <= box.covers:
                box.values += values
                np.maximum(box.clocks, clocks, out=box.clocks)
        return True


def cut(counts: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """(parameter, begin, end) of what goes into each block, given parameters and their counts."""
    block: list[tuple[int, int, int]] = []
    room = CHUNK
    for p, count in counts:
        begin = 0
        while begin < count:
            end = min(count, begin + room)
            block.append((p, begin, end))
            room -= end - begin
            begin = end
            if not room:
                yield block
                block, room = [], CHUNK
    if block:
        yield block


# -- factors of gradients --------------------------------------------------------------------------


class _Queue(Outbox):
    """Rows of factors, one message after the other."""

    item: FactoredWeights

    def __init__(self, item: FactoredWeights, to: tuple[int, ...]) -> None:
        super().__init__(item, to)
        self.waiting: deque[tuple[Array, Array]] = deque()

    @property
    def ready(self) -> bool:
        return bool(self.waiting)

    def weigh(self) -> None:
        self.weight = self.item.magnitude

    def size(self, wire: Wire) -> int:
        rows = self.waiting[0][1]
        return rows.size * wire.size(rows.dtype)

    def take(self, wire: Wire) -> tuple[Array, Array]:
        clocks, rows = self.waiting.popleft()
        self.sent = int(clocks.max()) - 1
        return clocks, wire.pack(rows.reshape(-1))


class FactoredWeights(Item):
    """The weights of an inner product, with their bias.

    Letters hold rows of A and B side by side, of one rank each.  The gradient of all other ranks in
    an iteration is one product of all their rows, and becomes an update by a history of its own:
    where the rule is linear, that is the sum of their updates.
    """

    scheme = "sfb"
    magnitude = 0.0  # of the mean update that this rank has made last
    outboxes: list[_Queue]

    def __init__(
        self,
        number: int,
        solver: Solver,
        params: Sequence[int],
        layer: int,
        nodes: Nodes,
        rank: int,
    ) -> None:
        super().__init__(number, solver, params)
        self.factors = Factors(solver.net, layer)
        self.layer, self.rank, self._ranks = layer, rank, len(nodes.of_rank)
        self.others = [r for r in range(self._ranks) if r != rank]
        self.taken = 0  # iterations of the others
        width, dtype = self.factors.width, self.dtype
        self._rows = np.empty((self.factors.rows * solver.param.iter_size, width), dtype)
        self._whole: dict[int, dict[int, Array]] = {}  # by clock and rank
        self._parts: dict[int, list[Array]] = {rank: [] for rank in self.others}
        self._part = max(1, CHUNK // width)
        self.largest = self._part * width * dtype.itemsize
        self._gradient = np.empty(sum(param.blob.count for param in self.learnable), dtype)
        self.take_history(solver)
        mates = tuple(r for r in nodes.mates(rank) if r != rank)
        leaders = tuple(r for r in nodes.leaders if r != rank) if rank in nodes.leaders else ()
        self._near, self._far = _Queue(self, mates), _Queue(self, leaders)
        self.outboxes = [box for box in (self._near, self._far) if box.to]

    def take_history(self, solver: Solver) -> None:
        """The others' history begins as this rank's."""
        self.history = [
            {slot: blob.data.reshape(-1).copy() for slot, blob in solver.history.of(p).items()}
            for p in self.params
        ]

    def slices(self, p: int) -> list[slice]:
        count = self.learnable[self.params.index(p)].blob.count
        return [slice(at, min(at + CHUNK, count)) for at in range(0, count, CHUNK)]

    def collect(self, number: int) -> None:
        """Copy the factors of backward pass ``number`` of an iteration."""
        rows = self.factors.rows
        self.factors.put(self._rows[number * rows : (number + 1) * rows], 1)

    def made(self, clock: int, scale: float) -> None:
        """The factors of an iteration are there; its gradient was multiplied by ``scale``."""
        rows, self._rows = self._rows, np.empty_like(self._rows)
        if scale == 0:  # whatever it was: NaN, perhaps
            rows[...] = 0
        elif scale != 1:
            self.factors.split(rows)[0][...] *= scale
        clocks = np.zeros(self._ranks, np.int64)
        clocks[self.rank] = clock
        for begin in range(0, len(rows), self._part):
            self._pass_on(clocks, rows[begin : begin + self._part], self.outboxes)

    def _pass_on(self, clocks: Array, rows: Array, boxes: Sequence[_Queue]) -> None:
        for box in boxes:
            if box.to:
                box.waiting.append((clocks, rows))

    def deliver(self, clocks: Array, values: Array, near: bool) -> bool:
        rank, clock = int(clocks.argmax()), int(clocks.max())
        rows = values.copy().reshape(-1, self.factors.width)
        self._pass_on(clocks, rows, [self._far if near else self._near])
        parts = self._parts[rank]
        parts.append(rows)
        if sum(map(len, parts)) < len(self._rows):
            return False
        self._whole.setdefault(clock, {})[rank] = np.concatenate(parts)
        parts.clear()
        return True

    def mean_gradient(self) -> list[Array]:
        """Of the others in the next iteration, which has come from all of them; by parameter."""
        self.taken += 1
        found = self._whole.pop(self.taken)
        rows = np.concatenate([found[rank] for rank in self.others])
        a, b = self.factors.split(rows)
        a *= 1.0 / len(self.others)
        ends = np.cumsum([param.blob.count for param in self.learnable])[:-1]
        gradients = np.split(self._gradient, ends)
        engine = self.factors.layer.context.engine
        self.factors.multiply(a, b, gradients, engine if engine.home is HOST else NUMPY)
        return gradients
