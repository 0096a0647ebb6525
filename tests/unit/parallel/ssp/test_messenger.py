"""Messages between ranks whose sends are done only when the test says so."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.ssp import messenger as ssp_messenger
from pycaffe_dist.parallel.ssp.messenger import END, POSTED, SENT, Message, Messenger


class Request:
    done = False

    def test(self):
        return self.done


class Wire:
    """A communicator of three ranks that keeps what is sent."""

    rank, size = 0, 3

    def __init__(self):
        self.sent, self.posted = [], []

    def isend(self, message, to, tag):
        self.sent.append((int(message[:8].view(np.int64)[0]), to, Request()))
        return self.sent[-1][2]

    def irecv(self, buffer, source, tag):
        self.posted.append((buffer, source, Request()))
        return self.posted[-1][2]


@pytest.fixture
def messenger():
    wire, served, messages, read = Wire(), [], [], []
    thread = SimpleNamespace(serve=served.append, recorder=Recorder())
    made = Messenger(
        wire, thread, 0, lambda: messages.pop(0) if messages else None, lambda *a: read.append(a)
    )
    send, *receive = served
    return SimpleNamespace(
        made=made, wire=wire, messages=messages, read=read, send=send, receive=receive
    )


def message(number, *to, values=()):
    clocks = np.array([number, 0, 2])
    return Message(number, clocks, np.array(values, np.float32), to, "update", "sfb")


def numbers(messenger):
    return [number for number, _, _ in messenger.wire.sent]


def test_no_more_than_so_many_messages_are_under_way(messenger):
    messenger.messages += [message(n, 1) for n in range(SENT + 3)]
    assert next(messenger.send)
    assert numbers(messenger) == list(range(SENT))
    assert not next(messenger.send)  # nothing has left, nothing is begun
    assert len(messenger.wire.sent) == SENT
    for _, _, request in messenger.wire.sent[2:4]:
        request.done = True
    assert next(messenger.send)
    assert numbers(messenger) == list(range(SENT + 2))


def test_a_message_to_several_counts_until_all_have_it(messenger):
    messenger.messages += [message(n, 1, 2) for n in range(SENT + 1)]
    next(messenger.send)
    assert [to for _, to, _ in messenger.wire.sent[:4]] == [1, 2, 1, 2]
    messenger.wire.sent[0][2].done = True
    assert not next(messenger.send)
    messenger.wire.sent[1][2].done = True
    assert next(messenger.send)
    assert len(messenger.wire.sent) == 2 * (SENT + 1)


def test_one_last_message_follows_what_was_still_to_be_written(messenger):
    assert not next(messenger.send)
    messenger.messages.append(message(7, 2))
    messenger.made.close()
    assert next(messenger.send)
    lasts = [(END, to) for to in (1, 2) * POSTED]
    assert [(number, to) for number, to, _ in messenger.wire.sent] == [(7, 2), *lasts]
    assert not next(messenger.send)
    for _, _, request in messenger.wire.sent:
        request.done = True
    assert list(messenger.send) in ([], [True])
    assert numbers(messenger).count(END) == 2 * POSTED


def test_messages_are_read_in_their_order_until_the_last(messenger):
    one = messenger.receive[0]
    assert not next(one)
    (first, second), source = [p[0] for p in messenger.wire.posted], messenger.wire.posted[0][1]
    assert len(messenger.wire.posted) == POSTED and source == 1
    for buffer, sent in ((first, message(5, 0, values=[1, 2])), (second, message(6, 0))):
        packed = sent.packed()
        buffer[: packed.size] = packed
    messenger.wire.posted[1][2].done = True
    assert not next(one)  # the first has not come
    messenger.wire.posted[0][2].done = True
    assert next(one) and next(one)
    (rank, number, clocks, content), (_, other, _, nothing) = messenger.read
    assert (rank, number, clocks.tolist()) == (1, 5, [5, 0, 2])
    assert content.view(np.float32).tolist() == [1, 2]
    assert (other, nothing.size) == (6, 0)
    assert len(messenger.wire.posted) == 2 + POSTED  # each is awaited anew
    for buffer, _, request in messenger.wire.posted[2:]:
        last = Message(END, np.zeros(3, np.int64), np.empty(0), [0], "", "").packed()
        buffer[: last.size] = last
        request.done = True
    assert list(one) == [True] * POSTED
    assert len(messenger.read) == 2 and len(messenger.wire.posted) == 2 + POSTED


def test_a_rank_alone_sends_nothing():
    served = []
    alone = SimpleNamespace(rank=0, size=1)
    Messenger(alone, SimpleNamespace(serve=served.append), 0, lambda: None, print)
    assert served == []


def test_a_room_holds_the_largest_message():
    wire, served = Wire(), []
    thread = SimpleNamespace(serve=served.append, recorder=Recorder())
    Messenger(wire, thread, 2 * ssp_messenger.SMALLEST_BUFFER, lambda: None, print)
    next(served[1])
    assert wire.posted[0][0].nbytes == 8 * (2 + 3) + 2 * ssp_messenger.SMALLEST_BUFFER
