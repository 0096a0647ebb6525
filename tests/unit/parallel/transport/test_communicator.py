"""What every communicator does: counting bytes, knowing nodes, waiting."""

import numpy as np
import pytest

from pycaffe_dist.parallel.transport import communicator as module
from pycaffe_dist.parallel.transport.communicator import Nodes, as_bytes, done, run
from pycaffe_dist.testing.ranks import run_ranks


def test_nodes_are_counted_in_the_order_of_their_leaders():
    nodes = Nodes.by_host(["b", "a", "b", "c", "a"])
    assert (nodes.of_rank, nodes.names, nodes.count) == ((0, 1, 0, 2, 1), ("b", "a", "c"), 3)
    assert nodes.leaders == (0, 1, 3)
    assert [nodes.ranks_on(node) for node in range(3)] == [(0, 2), (1, 4), (3,)]
    assert nodes.mates(4) == (1, 4)
    assert [nodes.host(rank) for rank in range(5)] == ["b", "a", "b", "c", "a"]


def test_bytes_are_counted_and_those_that_leave_the_node_apart():
    def work(communicator):
        values = np.arange(6, dtype=np.float32)
        if communicator.rank == 0:
            run(done([communicator.isend(values[: 2 * to], to, 1) for to in (1, 2)]))
            return communicator.sent, communicator.sent_out, communicator.received
        room = np.zeros(2 * communicator.rank, np.float32)
        request = communicator.irecv(room, 0, 1)
        assert communicator.awaited() == [0]
        run(done([request]))
        assert request.test() and request.test()  # and is counted once
        assert communicator.awaited() == []
        np.testing.assert_array_equal(room, values[: room.size])
        return communicator.sent, communicator.sent_out, communicator.received

    assert run_ranks(["a", "a", "b"], work) == [(24, 16, 0), (0, 0, 8), (0, 0, 16)]


def test_waiting_takes_longer_and_longer_until_something_moves(monkeypatch):
    monkeypatch.setattr(module, "SHORTEST_SLEEP", 1.0)
    monkeypatch.setattr(module, "LONGEST_SLEEP", 3.0)
    slept = []

    def steps():
        yield from [False] * 5 + [True] + [False] * 2
        return "the end"

    assert run(steps(), slept.append) == "the end"
    assert slept == [1, 1.5, 2.25, 3, 3, 1, 1.5]


def test_only_contiguous_arrays_travel():
    values = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert as_bytes(values).tobytes() == values.tobytes()
    with pytest.raises(ValueError, match="contiguous"):
        as_bytes(np.arange(6)[::2])
