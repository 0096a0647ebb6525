"""Mail: what a rank sends and has received where staleness is allowed, guarded by one lock.

Who owns what
-------------
The main thread makes updates, adds them to outboxes (``Block.add``) and takes what has come out of
inboxes.  The communication thread empties outboxes (``write``) and fills inboxes (``read``).
Items, their boxes, the board's rows and the list of ready boxes are touched by both, and only under
``lock``.  The clocks are written by the communication thread alone; the main thread reads them
without the lock, after what they speak of has been delivered: a clock advances last.

States of an outbox
-------------------
*empty* (``ready`` is false), *ready* (in ``_ready``, in the order in which boxes became so), and
after ``write`` has taken its content, empty again, or ready if more was waiting.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.exchange.parcel import Fabric
from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.ssp.clocks import Clocks
from pycaffe_dist.parallel.ssp.items import Item, Outbox
from pycaffe_dist.parallel.ssp.messenger import Message
from pycaffe_dist.parallel.ssp.stale_board import StaleBoard
from pycaffe_dist.parallel.transport.wire import Wire

BOARD = -1  # the number of messages with losses and requests
EXACT = Wire()


class Mail:
    """The boxes of a rank.

    Args:
        fabric: on which messages travel.
        items: what is exchanged.
        staleness: the bound.

    Attributes:
        done: how many iterations this rank has done.
    """

    def __init__(self, fabric: Fabric, items: Sequence[Item], staleness: int) -> None:
        rank, ranks = fabric.communicator.rank, fabric.communicator.size
        self.items, self.staleness, self.done = items, staleness, 0
        self.lock = threading.Lock()
        self.clocks = Clocks(rank, ranks, len(items))
        self.board = StaleBoard(rank, ranks, staleness)
        self.recorder: Recorder | None = None
        self._rank, self._ranks, self._port = rank, ranks, fabric.port
        self._others = [r for r in range(ranks) if r != rank]
        self._mates = fabric.node.mates
        self._messages: deque[Message] = deque()  # of the board, which go before all items
        self._ready: dict[Outbox, None] = {}  # in the order in which they became so

    @property
    def empty(self) -> bool:
        """Whether no outbox waits."""
        return not self._ready

    # -- called by the main thread -------------------------------------------------------------

    def post_row(self, values: Sequence[float]) -> None:
        """Tell the others this rank's row on the board of this iteration."""
        clocks = np.zeros(self._ranks, np.int64)
        clocks[self._rank] = self.board.written
        with self.lock:
            row = self.board.write(values)
            self._messages.append(Message(BOARD, clocks, row, self._others, "losses", "control"))

    # -- called with the lock held -------------------------------------------------------------

    def queue(self, item: Item) -> None:
        """Let those of its outboxes wait for the wire that have something to send."""
        for box in item.outboxes:
            if box.ready:
                self._ready[box] = None
                if self._port.pace:
                    box.weigh()

    # -- called by the communication thread ------------------------------------------------------

    def write(self) -> Message | None:
        """The next message, or None if there is none now."""
        with self.lock:
            if self._messages:
                return self._messages.popleft()
            box = self._next_box()
            if box is None:
                return None
            del self._ready[box]
            clocks, content = box.take(self._wire(box.to[0]))
            item = box.item
            self.queue(item)
            return Message(item.number, clocks, content, box.to, item.name, item.scheme)

    def _next_box(self) -> Outbox | None:
        """The one that should go next, if the budget allows it.

        With a budget, what is at the bound of staleness goes first, then the largest update.
        """
        if not self._ready:
            return None
        chosen = next(iter(self._ready))
        if self._port.pace:
            chosen = min(self._ready, key=lambda box: box.sent)
            if self.done - chosen.sent < self.staleness:
                chosen = max(self._ready, key=lambda box: box.weight)
        allowed = self._port.allows(chosen.to, chosen.size(self._wire(chosen.to[0])))
        return chosen if allowed else None

    def _wire(self, rank: int) -> Wire:
        """How numbers travel to and from a rank: as they are within a node."""
        return EXACT if rank in self._mates else self._port.wire

    def read(self, source: int, number: int, clocks: Array, content: Array) -> None:
        """Put what has come where the main thread will look."""
        if number == BOARD:
            with self.lock:
                self.board.note(source, int(clocks[source]), content.view(np.float64).copy())
            return
        item = self.items[number]
        values = item.unpack(content, self._wire(source))
        if self.recorder is not None:
            self.recorder.arrived(item.name, item.scheme, content.nbytes)
        with self.lock:
            complete = item.deliver(clocks, values, source in self._mates)
            self.queue(item)
        if complete:
            self.clocks.advance(number, clocks)
