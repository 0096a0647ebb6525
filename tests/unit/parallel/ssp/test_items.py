"""Sums of updates on their ways: what is added up where, and when it leaves."""

import numpy as np
import pytest

from pycaffe_dist.parallel.ssp import items as ssp_items
from pycaffe_dist.parallel.ssp.items import Block, cut
from pycaffe_dist.parallel.ssp.routes import Route, routes
from pycaffe_dist.parallel.transport.communicator import Nodes
from pycaffe_dist.parallel.transport.wire import Float16, Wire
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver

NODES = Nodes.by_host(["a", "a", "b", "c"])  # leaders: 0, 2, 3
SOLVER = """
base_lr: 0.01 lr_policy: "fixed"
net_param {
  layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" loss_weight: 1
    inner_product_param { num_output: 2 } }
}
"""


@pytest.fixture(scope="module")
def solver():
    return Solver(parse_text(SOLVER, SolverParameter()).message)


def block(solver, rank, number=0):
    """The weights but for the first two, and the bias."""
    return Block(number, solver, [(0, 2, 6), (1, 0, 2)], NODES, rank)


def test_updates_go_to_mates_and_by_the_hub_to_other_nodes():
    def ways(rank, hub=0):
        return [(route.to, set(route.covers)) for route in routes(NODES, rank, hub)]

    assert ways(1) == [((0,), {1})]
    assert ways(0) == [((1,), {0}), ((1,), {2, 3}), ((2,), {0, 1, 3}), ((3,), {0, 1, 2})]
    assert ways(2) == [((0,), {2})]
    assert ways(0, hub=2) == [((1,), {0}), ((1,), {2, 3}), ((2,), {0, 1})]
    assert ways(2, hub=2) == [((0,), {2, 3}), ((3,), {0, 1, 2})]
    alone = Nodes.by_host(["a"])
    assert routes(alone, 0, 0) == []
    assert routes(Nodes.by_host(["a", "a"]), 0, 0) == [Route((1,), frozenset({0}))]


def test_parameters_are_cut_into_blocks_of_one_size(monkeypatch):
    monkeypatch.setattr(ssp_items, "CHUNK", 10)
    assert list(cut([(0, 4), (1, 15), (2, 1)])) == [
        [(0, 0, 4), (1, 0, 6)],
        [(1, 6, 15), (2, 0, 1)],
    ]
    assert list(cut([(3, 10), (4, 0), (5, 11)])) == [[(3, 0, 10)], [(5, 0, 10)], [(5, 10, 11)]]
    assert list(cut([])) == []


def test_blocks_take_turns_with_their_hubs(solver):
    hubs = [block(solver, 2, number).outboxes for number in range(4)]
    assert [[box.to for box in boxes] for boxes in hubs] == [
        [(0,)],
        [(0,), (3,)],  # it is the hub
        [(3,)],
        [(0,)],
    ]


def test_own_updates_wait_for_those_whom_a_letter_covers(solver):
    item = block(solver, 0)
    near, inward, to_b, to_c = item.outboxes
    item.add(0, np.array([1.0, 2, 3, 4]))
    item.add(1, np.array([5.0, 6]))
    assert not near.ready
    item.made(1)
    assert [box.ready for box in item.outboxes] == [True, False, False, False]
    assert [box.values.tolist() for box in (near, inward)] == [[1, 2, 3, 4, 5, 6], [0] * 6]
    # The mate's update completes nothing for b: c is still missing.
    assert item.deliver(np.array([0, 1, 0, 0]), np.full(6, 10.0), near=True)
    assert (to_b.ready, to_c.ready) == (False, False)
    item.deliver(np.array([0, 0, 0, 1]), np.full(6, 100.0), near=False)
    assert (to_b.ready, to_c.ready, inward.ready) == (True, False, False)
    assert to_b.values.tolist() == [111, 112, 113, 114, 115, 116]
    assert to_c.values.tolist() == [11, 12, 13, 14, 15, 16]  # not what c itself has made
    item.deliver(np.array([0, 0, 2, 0]), np.full(6, 1000.0), near=False)
    assert (inward.ready, inward.clock) == (True, 1)
    assert item.inbox.tolist() == [1110.0] * 6
    assert all(piece.arrived for piece in item.pieces.values())


def test_a_letter_takes_all_along_and_the_next_waits(solver):
    item = block(solver, 1)
    (box,) = item.outboxes
    item.add(0, np.array([1.0, -2, 3, -6]))
    item.made(3)
    box.weigh()
    assert (box.weight, box.size(Wire()), box.size(Float16())) == (2, 24, 12)
    clocks, packed = box.take(Wire())
    assert (clocks.tolist(), packed.tolist()) == ([0, 3, 0, 0], [1, -2, 3, -6, 0, 0])
    assert (box.sent, box.ready, box.values.any()) == (3, False, False)
    item.add(1, np.array([7.0, 7]))
    assert packed.tolist() == [1, -2, 3, -6, 0, 0]  # what has left does not change
    item.made(4)
    assert box.ready and box.take(Wire())[1].tolist() == [0, 0, 0, 0, 7, 7]


def test_what_rounding_leaves_behind_stays(solver):
    item = block(solver, 1)
    (box,) = item.outboxes
    item.add(1, np.array([1 + 2**-12, 0.5]))
    item.made(1)
    _, packed = box.take(Float16())
    assert item.unpack(packed.view(np.uint8), Float16()).tolist() == [0, 0, 0, 0, 1, 0.5]
    assert box.values.tolist() == [0, 0, 0, 0, 2**-12, 0]


def test_a_block_knows_its_places(solver):
    item = block(solver, 0)
    assert (item.count, item.largest, item.name, item.layer) == (6, 24, "ip", 1)
    assert (item.slices(0), item.slices(1)) == ([slice(2, 6)], [slice(0, 2)])
