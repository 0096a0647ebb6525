"""SSP: stale synchronous parallel training, with managed communication.

Every rank trains on its own: its gradient becomes an update by its own history, and goes into its
weights at once (divided by P, unless updates are summed).  The update is also put into an outbox,
from which the communication thread sends it to all others, block by block; what has come from
others goes into the weights when forward reaches the layer.

A clock belongs to every block and rank: how many iterations of that rank are in what was received.
The c-th iteration may begin a layer's forward only if all clocks of its blocks are c − s or more,
so that no rank is ever more than s iterations ahead of what it has seen of the slowest.

Updates add up: what could not be sent in time is joined by the next one and travels as one.  So a
budget of bandwidth does not stop training, it makes it stale, within the bound.  Blocks that are at
the bound go first, then those with the largest updates.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pycaffe_dist.blob import Blob
from pycaffe_dist.errors import PcdError
from pycaffe_dist.memory import Array
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.collectives import broadcast, mean
from pycaffe_dist.parallel.comm_thread import CommThread
from pycaffe_dist.parallel.communicator import Request, Steps
from pycaffe_dist.parallel.plan import Plan
from pycaffe_dist.parallel.streams import CHUNK, Port
from pycaffe_dist.parallel.tags import STALE, VALUES
from pycaffe_dist.parallel.wire import create_wire
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import update

BOARD, END = -1, -2  # messages that are no blocks
HEADER = 24  # bytes: the number of a block, a clock, and how many bytes follow
SENT, POSTED = 4, 2  # messages under way to all, and awaited from each
SMALLEST_ROOM = 1 << 12  # bytes


@dataclass(eq=False)
class Block:
    """Some values of a parameter, and what is on its way for them."""

    number: int
    param: int
    begin: int
    end: int
    outbox: Array
    inbox: Array
    made: int = 0  # iterations of this rank that are in the outbox, or were
    sent: int = 0  # those that have left
    weight: float = 0.0  # how much is waiting in the outbox
    arrived: bool = False  # something is in the inbox


@dataclass
class _Letter:
    """A message to all others."""

    message: Array
    requests: list[Request] = field(default_factory=list)


class Ssp:
    """Trains a rank within a bound of staleness.

    Args:
        solver: of this rank.
        params: indices of what the ranks train together.
        port: where updates leave; its wire and its pace.
        thread: which sends and receives.
        staleness: the bound, 1 or more.
        scale: what a rank's update is multiplied by: 1/P, or 1 where updates are summed.

    Attributes:
        worst: the largest distance to a clock at which a forward has begun.
    """

    def __init__(
        self,
        solver: Solver,
        params: Sequence[int],
        port: Port,
        thread: CommThread,
        staleness: int,
        scale: float,
    ) -> None:
        self.solver, self.port, self.thread = solver, port, thread
        self.staleness, self.scale = staleness, scale
        self.worst = 0
        communicator = port.communicator
        self.rank, self.size = communicator.rank, communicator.size
        self._others = [r for r in range(self.size) if r != self.rank]
        self._lock = threading.Lock()
        self._done = 0  # iterations
        self._settled = 0
        self._params = sorted(params)
        self._fixed = [p for p in range(len(solver.net.params.learnable)) if p not in self._params]
        self._blocks: list[Block] = []
        self._of_param: dict[int, range] = {}
        for p in self._params:
            first = len(self._blocks)
            self._cut(p)
            self._of_param[p] = range(first, len(self._blocks))
        self._clocks = np.zeros((self.size, len(self._blocks)), np.int64)
        self._letters: deque[Array] = deque()  # of the board, which go before all blocks
        self._boards: dict[int, dict[int, Array]] = {}
        self._closing = False
        self._uses = [
            list(dict.fromkeys(p for p in ids if p in self._of_param))
            for ids in solver.net.params.ids
        ]
        self._seen: set[int] = set()
        solver.net.before_forward.append(self._before_forward)
        if self._others:
            thread.serve(self._send())
            for rank in self._others:
                thread.serve(self._receive(rank))

    def _cut(self, p: int) -> None:
        blob = self.solver.net.params.learnable[p].blob
        for begin in range(0, blob.count, CHUNK):
            end = min(begin + CHUNK, blob.count)
            boxes = np.zeros((2, end - begin), blob.dtype)
            self._blocks.append(Block(len(self._blocks), p, begin, end, *boxes))

    def close(self) -> None:
        self.settle()
        self.solver.net.before_forward.remove(self._before_forward)
        self._closing = True

    # -- an iteration ------------------------------------------------------------------------

    def clear_gradients(self) -> None:
        self.solver.net.clear_param_diffs()
        self._seen.clear()

    def _before_forward(self, layer: int) -> None:
        for p in self._uses[layer]:
            if p not in self._seen:
                self._seen.add(p)
                self._wait_for(p, self._done - self.staleness)
                self._take_in(p)

    def _wait_for(self, p: int, clock: int) -> None:
        """Until all others' updates of a parameter, up to ``clock``, are here."""
        blocks = self._of_param[p]
        name = self.solver.net.layer_names[self.solver.net.params.learnable[p].owner[0]]

        def missing() -> list[int]:
            there = self._clocks[:, blocks.start : blocks.stop].min(axis=1)
            return [r for r in self._others if there[r] < clock]

        self.thread.wait_until(lambda: not missing(), f"{name} (staleness)", missing)
        clocks = self._clocks[self._others, blocks.start : blocks.stop]
        ahead = self._done - int(clocks.min()) if clocks.size else 0
        self.worst = max(self.worst, ahead)
        if ahead > self.staleness:
            raise PcdError(f"layer {name}: {ahead} iterations ahead, allowed are {self.staleness}")

    def _take_in(self, p: int) -> None:
        """What has come from others goes into the weights."""
        for i in self._of_param[p]:
            block = self._blocks[i]
            if block.arrived:
                with self._lock:
                    data = self.solver.net.params.learnable[p].blob.data.reshape(-1)
                    data[block.begin : block.end] -= block.inbox
                    block.inbox[...] = 0
                    block.arrived = False

    def apply_update(self) -> None:
        solver = self.solver
        solver.begin_update()
        solver.clip_gradients()
        for p in self._fixed:
            solver.update_param(p)
        for p in self._params:
            self._update(p)
        self._done += 1
        solver.end_update()

    def _update(self, p: int) -> None:
        """The own update: into the weights at once, and into the outbox."""
        solver = self.solver
        param = solver.net.params.learnable[p]
        data, diff = param.blob.data.reshape(-1), param.blob.diff.reshape(-1)
        past = [h.data.reshape(-1) for h in solver.history[p :: len(solver.net.params.learnable)]]
        scale = diff.dtype.type(self.scale)
        for i in self._of_param[p]:
            block = self._blocks[i]
            at = slice(block.begin, block.end)
            g, h = diff[at], [array[at] for array in past]
            update.apply_to(param, data[at].copy(), g, h, solver.rule, solver.param, solver.rate)
            g *= scale
            data[at] -= g
            with self._lock:
                block.outbox += g
                block.made = self._done + 1
                if self.port.pace:
                    block.weight = float(np.abs(block.outbox).mean())

    def settle(self) -> None:
        """All ranks, who stand at the same iteration, take in everything."""
        if self._settled == self._done:
            return
        for p in self._params:
            self._wait_for(p, self._done)
            self._take_in(p)
        self.thread.wait_until(
            lambda: all(block.sent == block.made for block in self._blocks),
            "the last updates",
            lambda: self._others,
        )
        # Sums were made in another order on every rank: rounding is evened out.
        for p in self._params:
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
        mine = np.array(values, np.float64)
        self._note(self.rank, self._done, mine)
        with self._lock:
            self._letters.append(_message(BOARD, self._done, mine))

    def offered(self) -> Array:
        """What all ranks offered, a row each, as long ago as is certainly here; else the own."""
        then = self._done - self.staleness - 1
        with self._lock:
            board = self._boards.get(then)
            if board is None or len(board) < self.size:
                return self._boards[self._done][self.rank][None]
            return np.stack([board[r] for r in range(self.size)])

    def _note(self, rank: int, clock: int, values: Array) -> None:
        with self._lock:
            self._boards.setdefault(clock, {})[rank] = values
            for old in [c for c in self._boards if c < self._done - 2 * self.staleness - 2]:
                del self._boards[old]

    # -- the communication thread ------------------------------------------------------------

    def _send(self) -> Steps[None]:
        under_way: deque[_Letter] = deque()
        ended = False
        while not ended or under_way:
            moved = False
            while under_way and all(request.test() for request in under_way[0].requests):
                under_way.popleft()
                moved = True
            while len(under_way) < SENT and not ended:
                message = self._next_message()
                if message is None:
                    break
                # Every receive that somebody has posted ends with a message.
                ended = _header(message)[0] == END
                under_way.append(_Letter(message))
                for rank in self._others * (POSTED if ended else 1):
                    request = self.port.communicator.isend(message, rank, STALE)
                    under_way[-1].requests.append(request)
                moved = True
            yield moved

    def _next_message(self) -> Array | None:
        with self._lock:
            if self._letters:
                return self._letters.popleft()
            block = self._next_block()
            if block is not None:
                return self._pack(block)
        if self._closing:
            return _message(END, self._done, np.empty(0))
        return None

    def _next_block(self) -> Block | None:
        """The one that should go next, if the budget has room for it."""
        waiting = [block for block in self._blocks if block.made > block.sent]
        if not waiting:
            return None
        last = self._done
        due = min(block.sent for block in waiting)
        if not self.port.pace or last - due >= self.staleness:
            chosen = min(waiting, key=lambda block: block.sent)
        else:
            chosen = max(waiting, key=lambda block: block.weight)
        size = HEADER + chosen.outbox.size * self.port.wire.size(chosen.outbox.dtype)
        allowed = self.port.allows(self._others, size)
        return chosen if allowed else None

    def _pack(self, block: Block) -> Array:
        """A message of what is in the outbox; what rounding leaves behind stays there."""
        packed = self.port.wire.pack(block.outbox)
        message = _message(block.number, block.made, packed)
        if self.port.wire.exact:
            block.outbox[...] = 0
        else:
            block.outbox -= self.port.wire.unpack(packed)
        block.sent = block.made
        block.weight = 0.0
        return message

    def _receive(self, rank: int) -> Steps[None]:
        largest = max((b.outbox.nbytes for b in self._blocks), default=0)
        room = HEADER + max(largest, SMALLEST_ROOM)
        posted: deque[tuple[Request, Array]] = deque()

        def post() -> None:
            buffer = np.zeros(room, np.uint8)
            posted.append((self.port.communicator.irecv(buffer, rank, STALE), buffer))

        for _ in range(POSTED):
            post()
        while posted:
            if not posted[0][0].test():
                yield False
                continue
            buffer = posted.popleft()[1]
            number, clock, size = _header(buffer)
            if number != END:
                post()
                self._file(rank, number, clock, buffer[HEADER : HEADER + size])
            yield True

    def _file(self, rank: int, number: int, clock: int, content: Array) -> None:
        """Put a message where the main thread will look."""
        if number == BOARD:
            self._note(rank, clock, content.view(np.float64))
            return
        block = self._blocks[number]
        packed = content.view(self.port.wire.room(0, block.inbox.dtype).dtype)
        with self._lock:
            block.inbox += self.port.wire.unpack(packed)
            block.arrived = True
        self._clocks[rank, number] = clock


def with_updates(plan: Plan, net: Net, staleness: int) -> Plan:
    """The plan as it is where staleness is allowed: dense updates, from each rank to all others."""
    entries = []
    for entry in plan.entries:
        values = sum(net.params.learnable[p].blob.count for p in entry.params)
        sent = (plan.ranks - 1) * values * create_wire(plan.wire).size(np.dtype(np.float32))
        reason = f"staleness {staleness}: updates to all ranks, at most so much"
        entries.append(replace(entry, scheme="updates", bucket=None, bytes=sent, reason=reason))
    return replace(plan, entries=tuple(entries))


def _message(number: int, clock: int, content: Array) -> Array:
    header = np.array([number, clock, content.nbytes], np.int64)
    return np.concatenate([header.view(np.uint8), content.view(np.uint8)])


def _header(message: Array) -> tuple[int, int, int]:
    number, clock, size = message[:HEADER].view(np.int64).tolist()
    return number, clock, size
