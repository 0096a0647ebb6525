"""Messages between any two ranks at any time, sent and received in the communication thread.

Who owns what
-------------
All of it runs in the communication thread, as one generator that sends and one for each other rank
that receives; the main thread only makes a ``Messenger`` and calls ``close``.  A message that is
sent keeps its buffer until all its requests are complete.  A receive buffer is MPI's while its
request is under way, then ``read`` has it for the length of that call, and it is posted again.

States
------
*open*: up to ``SENT`` messages are under way, and ``POSTED`` receives wait for each other rank.
*closing* (after ``close``): what ``write`` still gives is sent, then one ``END`` for each receive
that the other ranks have posted.  *ended*: nothing is under way, and every receive has got its
``END``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.parallel.observe.trace import Exchange
from pycaffe_dist.parallel.transport.comm_thread import CommThread
from pycaffe_dist.parallel.transport.communicator import Communicator, Request, Steps
from pycaffe_dist.parallel.transport.tags import STALE

END = -2  # the number of the last messages
SENT, POSTED = 8, 2  # messages under way from here, and awaited from each other rank
SMALLEST_BUFFER = 1 << 12  # bytes


@dataclass(eq=False)
class Message:
    """Bytes for some ranks.

    Attributes:
        number: what they are about.
        clocks: by rank, how many of its iterations they contain; 0: they do not speak of it.
        name, scheme: how they are recorded.
    """

    number: int
    clocks: Array
    content: Array
    to: Sequence[int]
    name: str
    scheme: str

    def packed(self) -> Array:
        header = np.array([self.number, self.content.nbytes, *self.clocks], np.int64)
        return np.concatenate([header.view(np.uint8), self.content.reshape(-1).view(np.uint8)])


@dataclass
class _Sent:
    buffer: Array  # must stay until it has been sent
    record: Exchange
    requests: list[Request] = field(default_factory=list)

    def is_sent(self) -> bool:
        self.requests = [request for request in self.requests if not request.test()]
        if not self.requests:
            self.record.end()
        return not self.requests


class Messenger:
    """Sends what ``write`` gives and hands to ``read`` what has come; both in the thread.

    Args:
        communicator: which carries the messages.
        thread: which calls.
        largest: bytes of content in a message, at most.
        write: the next message, or None if there is none now.
        read: is given a message's source, number, clocks and content, which it must not keep.
    """

    def __init__(
        self,
        communicator: Communicator,
        thread: CommThread,
        largest: int,
        write: Callable[[], Message | None],
        read: Callable[[int, int, Array, Array], None],
    ) -> None:
        self._communicator, self._thread = communicator, thread
        self._write, self._read = write, read
        self._header = 8 * (2 + communicator.size)
        self._size = self._header + max(largest, SMALLEST_BUFFER)
        self._others = [r for r in range(communicator.size) if r != communicator.rank]
        self._closing = False
        if self._others:
            thread.serve(self._send())
            for rank in self._others:
                thread.serve(self._receive(rank))

    def close(self) -> None:
        """Tell the others that no more will come, after what is still to be sent."""
        self._closing = True

    def _send(self) -> Steps[None]:
        under_way: list[_Sent] = []
        ended = False
        while not ended or under_way:
            before = len(under_way)
            under_way = [sent for sent in under_way if not sent.is_sent()]
            moved = len(under_way) < before
            while len(under_way) < SENT and not ended:
                message = self._write()
                if message is None and self._closing:
                    message, ended = self._last(), True
                if message is None:
                    break
                under_way.append(self._begin(message))
                moved = True
            yield moved

    def _last(self) -> Message:
        """Each receive that another rank has posted is ended by one of these."""
        clocks = np.zeros(self._communicator.size, np.int64)
        return Message(END, clocks, np.empty(0), self._others * POSTED, "the end", "control")

    def _begin(self, message: Message) -> _Sent:
        buffer = message.packed()
        sent = _Sent(buffer, self._thread.recorder.begin(message.name, message.scheme))
        sent.requests = [self._communicator.isend(buffer, to, STALE) for to in message.to]
        sent.record.sent = buffer.nbytes * len(message.to)
        return sent

    def _receive(self, rank: int) -> Steps[None]:
        posted: deque[tuple[Request, Array]] = deque()

        def post(buffer: Array) -> None:
            posted.append((self._communicator.irecv(buffer, rank, STALE), buffer))

        for _ in range(POSTED):
            post(np.zeros(self._size, np.uint8))
        while posted:
            if not posted[0][0].test():
                yield False
                continue
            buffer = posted.popleft()[1]
            number, size, *clocks = buffer[: self._header].view(np.int64).tolist()
            if number != END:
                content = buffer[self._header : self._header + size]
                self._read(rank, number, np.array(clocks), content)
                post(buffer)
            yield True
