"""Which outbox goes next: what waits longest, what is at the bound, the largest update."""

from types import SimpleNamespace

import numpy as np
import pytest

from pycaffe_dist.parallel.ssp.mail import BOARD, Mail
from pycaffe_dist.parallel.transport.wire import Wire


class Box:
    """An outbox to rank 1 that tells of its size and of when it sent last."""

    def __init__(self, sent, weight, size=8):
        self.sent, self.weight, self.to, self.ready = sent, weight, [1], True
        self.weighed, self._size = 0, size
        self.item = SimpleNamespace(number=weight, name="update", scheme="sfb", outboxes=[self])

    def weigh(self):
        self.weighed += 1

    def size(self, wire):
        return self._size

    def take(self, wire):
        self.ready = False
        return np.zeros(2, np.int64), np.zeros(2, np.float32)


@pytest.fixture
def mail():
    def made(pace, most=100, staleness=2):
        port = SimpleNamespace(pace=pace, wire=Wire(), allows=lambda to, size: size <= most)
        communicator = SimpleNamespace(rank=0, size=2)
        node = SimpleNamespace(mates=[0])
        fabric = SimpleNamespace(communicator=communicator, port=port, node=node)
        return Mail(fabric, [], staleness)

    return made


def order(mail, boxes):
    """The weights of the boxes in the order in which they leave."""
    for box in boxes:
        mail.queue(box.item)
    letters = []
    while (letter := mail.write()) is not None:
        letters.append(letter.number)
    return letters


def test_without_a_budget_they_leave_in_the_order_in_which_they_were_ready(mail):
    boxes = [Box(0, 1), Box(5, 3), Box(3, 2)]
    assert order(mail(pace=False), boxes) == [1, 3, 2]
    assert [box.weighed for box in boxes] == [0, 0, 0]


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (5, [3, 2, 1]),  # none is at the bound: by size
        (6, [1, 3, 2]),  # the one of iteration 4 is
        (7, [1, 2, 3]),  # so is that of 5
    ],
)
def test_with_a_budget_what_is_at_the_bound_leaves_first_then_the_largest(mail, done, expected):
    made = mail(pace=True)
    made.done = done
    boxes = [Box(4, 1), Box(6, 3), Box(5, 2)]
    assert order(made, boxes) == expected
    assert [box.weighed for box in boxes] == [1, 1, 1]


def test_what_the_budget_does_not_allow_waits(mail):
    made = mail(pace=True, most=10)
    assert order(made, [Box(0, 1, size=11)]) == []
    assert not made.empty


def test_letters_of_the_board_go_before_all(mail):
    made = mail(pace=True)
    made.queue(Box(0, 1).item)
    made.post_row([0.5])
    assert [made.write().number for _ in range(2)] == [BOARD, 1]
