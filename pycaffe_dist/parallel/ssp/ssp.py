"""SSP: stale synchronous parallel training, with managed communication.

Every rank trains on its own: its gradient becomes an update by its own history, and goes into its
weights at once (divided by P, unless updates are summed).  What others need of it is put into
outboxes, which the communication thread empties; what has come from others goes into the weights
when forward reaches the layer.  Dense updates travel by the nodes' leaders and hubs (ssp_routes);
of inner products the factors of the gradient may travel instead (SFB).

A clock belongs to every item and rank: how many iterations of that rank are in what was received.
The c-th iteration may begin a layer's forward only if all clocks of its items are c − s or more,
so that no rank is ever more than s iterations ahead of what it has seen of the slowest.

Updates add up: what could not be sent in time is joined by the next one and travels as one.  So a
budget of bandwidth does not stop training, it makes it stale, within the bound.  What is at the
bound goes first, then the largest updates.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import PcdError
from pycaffe_dist.learnable import Param
from pycaffe_dist.memory import Array
from pycaffe_dist.parallel.exchange.parcel import Fabric
from pycaffe_dist.parallel.plan.plan import Entry
from pycaffe_dist.parallel.schemes.scheme import schemes
from pycaffe_dist.parallel.ssp.clocks import Clocks
from pycaffe_dist.parallel.ssp.items import Block, Item, Outbox, Product, cut
from pycaffe_dist.parallel.ssp.post import Letter, Post
from pycaffe_dist.parallel.ssp.stale_board import StaleBoard
from pycaffe_dist.parallel.transport.collectives import broadcast, mean
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.communicator import Nodes
from pycaffe_dist.parallel.transport.streams import Port
from pycaffe_dist.parallel.transport.tags import VALUES
from pycaffe_dist.parallel.transport.wire import Wire
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import update
from pycaffe_dist.update_step import ParamValues, UpdateStep

BOARD = -1  # the number of letters with losses and requests
EXACT = Wire()


class Ssp:
    """Trains a rank within a bound of staleness.

    Args:
        solver: of this rank.
        groups: what the ranks train together, those that travel together in a list.
        fabric: on which updates travel.
        thread: which sends and receives.
        staleness: the bound, 1 or more.

    Attributes:
        items: what is exchanged.
        worst: the largest distance to a clock at which a forward has begun.
    """

    def __init__(
        self,
        solver: Solver,
        groups: Sequence[Sequence[Entry]],
        fabric: Fabric,
        thread: CommThread,
        staleness: int,
    ) -> None:
        self.solver, self.port, self.thread = solver, fabric.port, thread
        self.staleness, self.scale, self._verdict = staleness, fabric.scale, fabric.verdict
        self.worst = 0
        self._mates = fabric.node.mates
        communicator = fabric.communicator
        self.rank, self.size = communicator.rank, communicator.size
        self._others = [r for r in range(self.size) if r != self.rank]
        self._lock = threading.Lock()
        self._done = 0  # iterations
        self._settled = 0
        self._updates: dict[int, UpdateStep] = {}  # by clock
        self.items: list[Item] = []
        for group in groups:
            self._add_items(group, communicator.nodes)
        self._blocks = [item for item in self.items if isinstance(item, Block)]
        self._products = [item for item in self.items if isinstance(item, Product)]
        self._by_layer = sorted(self.items, key=lambda item: item.layer)  # as forward asks
        self._of_param: dict[int, list[Item]] = {}
        for item in self.items:
            for p in item.params:
                self._of_param.setdefault(p, []).append(item)
        learnable = range(len(solver.net.params.learnable))
        self._fixed = [p for p in learnable if p not in self._of_param]
        self._clocks = Clocks(self.rank, self.size, len(self.items))
        self._board = StaleBoard(self.rank, self.size, staleness)
        self._letters: deque[Letter] = deque()  # of the board, which go before all items
        self._ready: dict[Outbox, None] = {}  # in the order in which they became so
        self._uses = [
            list(dict.fromkeys(p for p in ids if p in self._of_param))
            for ids in solver.net.params.ids
        ]
        self._seen: set[int] = set()
        self._pass = 0
        self._steps = False  # whether the solver is taking a step, or somebody else uses its net
        self._hooks = [
            (solver.net.before_forward, self._before_forward),
            (solver.net.after_backward, self._after_backward),
        ]
        for hook, function in self._hooks:
            hook.append(function)
        largest = max((item.largest for item in self.items), default=0)
        self._post = Post(communicator, thread, largest, self._write, self._read)

    def _add_items(self, group: Sequence[Entry], nodes: Nodes) -> None:
        """What an entry that travels as factors, or the entries of a bucket, is cut into."""
        solver, first = self.solver, group[0]
        if schemes()[first.scheme].factored:
            number = len(self.items)
            self.items.append(Product(number, solver, first.params, first.layer, nodes, self.rank))
            return
        learnable = solver.net.params.learnable
        counts = [(p, learnable[p].blob.count) for entry in group for p in entry.params]
        for cuts in cut(counts):
            self.items.append(Block(len(self.items), solver, cuts, nodes, self.rank))

    def close(self) -> None:
        self.settle()
        for hook, function in self._hooks:
            hook.remove(function)
        self._post.close()

    def take_history(self) -> None:
        """The solver's history is another one now."""
        for item in self._products:
            item.take_history(self.solver)

    # -- an iteration ------------------------------------------------------------------------

    def clear_gradients(self) -> None:
        self.solver.net.clear_param_diffs()
        self._seen.clear()
        self._pass = 0
        self._steps = True

    def _before_forward(self, layer: int) -> None:
        for p in self._uses[layer]:
            if p not in self._seen:
                self._seen.add(p)
                self._wait_for(p, self._done - self.staleness)
                self._take_in(p)

    def _after_backward(self, layer: int) -> None:
        if not self._steps:
            return
        for item in self._products:
            if item.layer == layer and self._others:
                item.collect(self._pass)
        if layer == 0:
            self._pass += 1

    def _wait_for(self, p: int, clock: int) -> None:
        """Until all others' updates of a parameter, up to ``clock``, are here."""
        items = [item.number for item in self._of_param[p]]
        name = self.solver.net.layer_names[self.solver.net.params.learnable[p].owner[0]]

        def missing() -> list[int]:
            return self._clocks.missing(items, clock)

        self.thread.wait_until(lambda: not missing(), f"{name} (staleness)", missing)
        ahead = self.ahead(self._of_param[p])
        self.worst = max(self.worst, ahead)
        if ahead > self.staleness:
            raise PcdError(f"layer {name}: {ahead} iterations ahead, allowed are {self.staleness}")

    def ahead(self, items: Sequence[Item]) -> int:
        """How many iterations of this rank the slowest of the others' clocks is behind."""
        return self._clocks.ahead([item.number for item in items], self._done)

    def _take_in(self, p: int) -> None:
        """What has come from others goes into the weights."""
        for item in self._of_param[p]:
            if isinstance(item, Block):
                self._take_block(item, p)
            elif isinstance(item, Product):
                self._take_product(item)

    def _take_block(self, block: Block, p: int) -> None:
        piece = block.pieces[p]
        if piece.arrived:
            with self._lock:
                data = self.solver.net.params.learnable[p].blob.data.reshape(-1)
                data[piece.begin : piece.end] -= block.inbox[piece.at]
                block.inbox[piece.at] = 0
                piece.arrived = False

    def _take_product(self, item: Product) -> None:
        """Iteration by iteration, as far as all others, and this rank, have got."""
        if not self._others:
            return
        clock = min(self._done, self._clocks.slowest([item.number]))
        while item.taken < clock:
            gradients = item.mean_gradient()
            step, factor = self._updates[item.taken], self.scale * len(self._others)
            for p, g, past in zip(item.params, gradients, item.history, strict=True):
                param = self.solver.net.params.learnable[p]
                values = ParamValues(param.blob.data.reshape(-1), g, past)
                for at in item.slices(p):
                    self._subtract(param, values[at], step, factor)

    def _subtract(self, param: Param, values: ParamValues, step: UpdateStep, factor: float) -> None:
        """Take the update that the gradients make, times ``factor``, off the weights.

        The gradients become what was taken off.
        """
        copy = replace(values, data=values.data.copy())
        update.apply_to(param, copy, self.solver.rule, step)
        values.diff[...] *= values.diff.dtype.type(factor)
        values.data[...] -= values.diff

    def apply_update(self) -> None:
        """Make this rank's update of an iteration, and let it go out.

        If the verdict is against it, it is nothing: the clocks advance, and no weight changes.
        """
        solver, self._steps = self.solver, False
        held_back = self._verdict.update is False
        step = solver.begin_update()
        clipped = 0.0 if held_back else solver.clip_gradients(step)
        self._updates[self._done + 1] = step
        self._updates.pop(self._done - self.staleness - 1, None)
        if not held_back:
            self._update_all(step)
        self._done += 1
        with self._lock:
            for block in self._blocks:
                block.made(self._done)
            if self._others:
                for product in self._products:
                    product.made(self._done, clipped)
            for item in self._by_layer:
                self._queue(item)
        solver.end_update(step)

    def _update_all(self, step: UpdateStep) -> None:
        for p in self._fixed:
            self.solver.update_param(p, step)
        for p in self._of_param:
            self._update(p, step)

    def _update(self, p: int, step: UpdateStep) -> None:
        """The own update: into the weights at once, and to those who will send it."""
        param = self.solver.net.params.learnable[p]
        diff = param.blob.diff.reshape(-1)
        past = {slot: h.data.reshape(-1) for slot, h in self.solver.history.of(p).items()}
        values = ParamValues(param.blob.data.reshape(-1), diff, past)
        for item in self._of_param[p]:
            for at in item.slices(p):
                self._subtract(param, values[at], step, self.scale)
                if isinstance(item, Block):
                    with self._lock:
                        item.add(p, diff[at])
            if isinstance(item, Product) and self.port.pace:
                item.magnitude = float(np.abs(diff).mean())

    def settle(self) -> None:
        """All ranks, who stand at the same iteration, take in everything."""
        if self._settled == self._done:
            return
        for p in self._of_param:
            self._wait_for(p, self._done)
            self._take_in(p)
        self.thread.wait_until(lambda: not self._ready, "the last updates", lambda: self._others)
        # Sums were made in another order on every rank: rounding is evened out.
        for p in self._of_param:
            data = self.solver.net.params.learnable[p].blob.data.reshape(-1)
            steps = broadcast(Port(self.port.communicator), self.size, data, VALUES)
            self.thread.do(steps, "settling")
        self._settled = self._done

    def mean_history(self) -> list[Blob]:
        """The mean over ranks of their histories."""
        means = []
        for blob in self.solver.history:
            means.append(Blob(blob.shape, blob.dtype))
            means[-1].data[...] = blob.data
            steps = mean(Port(self.port.communicator), means[-1].data.reshape(-1))
            self.thread.do(steps, "history")
        return means

    # -- the board: losses and requests ------------------------------------------------------

    def offer(self, values: Sequence[float]) -> None:
        """Tell the others something of this iteration."""
        clocks = np.zeros(self.size, np.int64)
        clocks[self.rank] = self._board.written
        with self._lock:
            row = self._board.write(values)
            self._letters.append(Letter(BOARD, clocks, row, self._others, "losses", "control"))

    def read(self, settling: bool) -> list[tuple[int, Array]]:
        """The boards that are due, when all their rows are here."""
        due = self._board.due(settling)

        def missing() -> list[int]:
            return self._board.missing(due)

        self.thread.wait_until(lambda: not missing(), "losses (staleness)", missing)
        with self._lock:
            return self._board.take(due)

    # -- called by the communication thread ----------------------------------------------------

    def _queue(self, item: Item) -> None:
        """Let those of its outboxes wait for the wire that have something to send."""
        for box in item.outboxes:
            if box.ready:
                self._ready[box] = None
                if self.port.pace:
                    box.weigh()

    def _write(self) -> Letter | None:
        with self._lock:
            if self._letters:
                return self._letters.popleft()
            box = self._next_box()
            if box is None:
                return None
            del self._ready[box]
            clocks, content = box.take(self._wire(box.to[0]))
            item = box.item
            self._queue(item)
            return Letter(item.number, clocks, content, box.to, item.name, item.scheme)

    def _next_box(self) -> Outbox | None:
        """The one that should go next, if the budget has room for it."""
        if not self._ready:
            return None
        chosen = next(iter(self._ready))
        if self.port.pace:
            chosen = min(self._ready, key=lambda box: box.sent)
            if self._done - chosen.sent < self.staleness:
                chosen = max(self._ready, key=lambda box: box.weight)
        allowed = self.port.allows(chosen.to, chosen.size(self._wire(chosen.to[0])))
        return chosen if allowed else None

    def _wire(self, rank: int) -> Wire:
        """How numbers travel to and from a rank."""
        return EXACT if rank in self._mates else self.port.wire

    def _read(self, source: int, number: int, clocks: Array, content: Array) -> None:
        """Put what has come where the main thread will look."""
        if number == BOARD:
            with self._lock:
                self._board.note(source, int(clocks[source]), content.view(np.float64).copy())
            return
        item = self.items[number]
        values = item.unpack(content, self._wire(source))
        self.thread.recorder.arrived(item.name, item.scheme, content.nbytes)
        with self._lock:
            complete = item.deliver(clocks, values, source in self._mates)
            self._queue(item)
        if complete:
            self._clocks.advance(number, clocks)
