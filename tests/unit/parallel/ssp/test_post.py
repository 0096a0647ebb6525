"""Letters between ranks whose sends are done only when the test says so."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.parallel.observe.trace import Recorder
from pycaffe_dist.parallel.ssp import post as ssp_post
from pycaffe_dist.parallel.ssp.post import END, POSTED, SENT, Letter, Post


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
def post():
    wire, served, letters, read = Wire(), [], [], []
    thread = SimpleNamespace(serve=served.append, recorder=Recorder())
    made = Post(
        wire, thread, 0, lambda: letters.pop(0) if letters else None, lambda *a: read.append(a)
    )
    send, *receive = served
    return SimpleNamespace(
        post=made, wire=wire, letters=letters, read=read, send=send, receive=receive
    )


def letter(number, *to, values=()):
    clocks = np.array([number, 0, 2])
    return Letter(number, clocks, np.array(values, np.float32), to, "update", "sfb")


def numbers(post):
    return [number for number, _, _ in post.wire.sent]


def test_no_more_than_so_many_letters_are_under_way(post):
    post.letters += [letter(n, 1) for n in range(SENT + 3)]
    assert next(post.send)
    assert numbers(post) == list(range(SENT))
    assert not next(post.send)  # nothing has left, nothing is begun
    assert len(post.wire.sent) == SENT
    for _, _, request in post.wire.sent[2:4]:
        request.done = True
    assert next(post.send)
    assert numbers(post) == list(range(SENT + 2))


def test_a_letter_to_several_counts_until_all_have_it(post):
    post.letters += [letter(n, 1, 2) for n in range(SENT + 1)]
    next(post.send)
    assert [to for _, to, _ in post.wire.sent[:4]] == [1, 2, 1, 2]
    post.wire.sent[0][2].done = True
    assert not next(post.send)
    post.wire.sent[1][2].done = True
    assert next(post.send)
    assert len(post.wire.sent) == 2 * (SENT + 1)


def test_one_goodbye_follows_what_was_still_to_be_written(post):
    assert not next(post.send)
    post.letters.append(letter(7, 2))
    post.post.close()
    assert next(post.send)
    goodbyes = [(END, to) for to in (1, 2) * POSTED]
    assert [(number, to) for number, to, _ in post.wire.sent] == [(7, 2), *goodbyes]
    assert not next(post.send)
    for _, _, request in post.wire.sent:
        request.done = True
    assert list(post.send) in ([], [True])
    assert numbers(post).count(END) == 2 * POSTED


def test_letters_are_read_in_their_order_until_the_goodbye(post):
    one = post.receive[0]
    assert not next(one)
    (first, second), source = [p[0] for p in post.wire.posted], post.wire.posted[0][1]
    assert len(post.wire.posted) == POSTED and source == 1
    for buffer, sent in ((first, letter(5, 0, values=[1, 2])), (second, letter(6, 0))):
        message = sent.message()
        buffer[: message.size] = message
    post.wire.posted[1][2].done = True
    assert not next(one)  # the first has not come
    post.wire.posted[0][2].done = True
    assert next(one) and next(one)
    (rank, number, clocks, content), (_, other, _, nothing) = post.read
    assert (rank, number, clocks.tolist()) == (1, 5, [5, 0, 2])
    assert content.view(np.float32).tolist() == [1, 2]
    assert (other, nothing.size) == (6, 0)
    assert len(post.wire.posted) == 2 + POSTED  # each is awaited anew
    for buffer, _, request in post.wire.posted[2:]:
        message = Letter(END, np.zeros(3, np.int64), np.empty(0), [0], "", "").message()
        buffer[: message.size] = message
        request.done = True
    assert list(one) == [True] * POSTED
    assert len(post.read) == 2 and len(post.wire.posted) == 2 + POSTED


def test_a_rank_alone_sends_nothing():
    served = []
    alone = SimpleNamespace(rank=0, size=1)
    Post(alone, SimpleNamespace(serve=served.append), 0, lambda: None, print)
    assert served == []


def test_a_room_holds_the_largest_letter():
    wire, served = Wire(), []
    thread = SimpleNamespace(serve=served.append, recorder=Recorder())
    Post(wire, thread, 2 * ssp_post.SMALLEST_ROOM, lambda: None, print)
    next(served[1])
    assert wire.posted[0][0].nbytes == 8 * (2 + 3) + 2 * ssp_post.SMALLEST_ROOM
