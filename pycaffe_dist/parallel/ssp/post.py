"""Letters between any two ranks at any time, taken forward by the communication thread."""

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

END = -2  # the number of the last letters
SENT, POSTED = 8, 2  # letters under way from here, and awaited from each other rank
SMALLEST_ROOM = 1 << 12  # bytes


@dataclass(eq=False)
class Letter:
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

    def message(self) -> Array:
        header = np.array([self.number, self.content.nbytes, *self.clocks], np.int64)
        return np.concatenate([header.view(np.uint8), self.content.reshape(-1).view(np.uint8)])


@dataclass
class _Sent:
    message: Array  # must stay until it has left
    record: Exchange
    requests: list[Request] = field(default_factory=list)

    def has_left(self) -> bool:
        self.requests = [request for request in self.requests if not request.test()]
        if not self.requests:
            self.record.end()
        return not self.requests


class Post:
    """Sends what ``write`` gives and hands to ``read`` what has come; both in the thread.

    Args:
        communicator: which carries the letters.
        thread: which calls.
        largest: bytes of content in a letter, at most.
        write: the next letter, or None if there is none now.
        read: is given a letter's source, number, clocks and content, which it must not keep.
    """

    def __init__(
        self,
        communicator: Communicator,
        thread: CommThread,
        largest: int,
        write: Callable[[], Letter | None],
        read: Callable[[int, int, Array, Array], None],
    ) -> None:
        self._communicator, self._thread = communicator, thread
        self._write, self._read = write, read
        self._header = 8 * (2 + communicator.size)
        self._room = self._header + max(largest, SMALLEST_ROOM)
        self._others = [r for r in range(communicator.size) if r != communicator.rank]
        self._closing = False
        if self._others:
            thread.serve(self._send())
            for rank in self._others:
                thread.serve(self._receive(rank))

    def close(self) -> None:
        """Say goodbye to the others, after what is still to be written."""
        self._closing = True

    def _send(self) -> Steps[None]:
        under_way: list[_Sent] = []
        ended = False
        while not ended or under_way:
            before = len(under_way)
            under_way = [letter for letter in under_way if not letter.has_left()]
            moved = len(under_way) < before
            while len(under_way) < SENT and not ended:
                letter = self._write()
                if letter is None and self._closing:
                    letter, ended = self._goodbye(), True
                if letter is None:
                    break
                under_way.append(self._begin(letter))
                moved = True
            yield moved

    def _goodbye(self) -> Letter:
        """Every receive that somebody has posted ends with a letter."""
        clocks = np.zeros(self._communicator.size, np.int64)
        return Letter(END, clocks, np.empty(0), self._others * POSTED, "the end", "control")

    def _begin(self, letter: Letter) -> _Sent:
        message = letter.message()
        sent = _Sent(message, self._thread.recorder.begin(letter.name, letter.scheme))
        sent.requests = [self._communicator.isend(message, to, STALE) for to in letter.to]
        sent.record.sent = message.nbytes * len(letter.to)
        return sent

    def _receive(self, rank: int) -> Steps[None]:
        posted: deque[tuple[Request, Array]] = deque()

        def post(buffer: Array) -> None:
            posted.append((self._communicator.irecv(buffer, rank, STALE), buffer))

        for _ in range(POSTED):
            post(np.zeros(self._room, np.uint8))
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
