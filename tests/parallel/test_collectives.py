"""What ranks do together, among ranks that are threads."""

import itertools
from typing import Any

import numpy as np
import pytest

from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.transport.budget import BURST_SECONDS, TokenBucket
from pycaffe_dist.parallel.transport.collectives import (
    all_gather,
    bounds,
    broadcast_object,
    gather_objects,
    mean,
    one_to_all,
    reduce_scatter,
)
from pycaffe_dist.parallel.transport.communicator import Communicator, Nodes, run
from pycaffe_dist.parallel.transport.node import Node
from pycaffe_dist.parallel.transport.streams import CHUNK, Port
from pycaffe_dist.parallel.transport.wire import create_wire
from pycaffe_dist.testing.ranks import run_ranks

COUNTS = [1, 2, 1000, 3 * CHUNK + 17]


def numbers(rank: int, count: int) -> np.ndarray:
    return np.random.default_rng(rank).standard_normal(count).astype(np.float32)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("count", COUNTS)
def test_sums_are_the_same_everywhere_and_added_in_the_order_of_ranks(
    ranks: int, count: int
) -> None:
    def work(communicator: Communicator) -> np.ndarray:
        values, slices = numbers(communicator.rank, count), bounds(count, ranks)
        group, port = range(ranks), Port(communicator)
        run(reduce_scatter(port, group, values, slices, 20))
        run(all_gather(port, group, values, slices, 20))
        return values

    expected = np.empty(count, np.float32)
    for owner, (begin, end) in enumerate(itertools.pairwise(bounds(count, ranks))):
        total = numbers(owner, count)[begin:end]
        for rank in range(ranks):
            if rank != owner:
                total = total + numbers(rank, count)[begin:end]
        expected[begin:end] = total
    for result in run_ranks(ranks, work):
        assert (result == expected).all()


@pytest.mark.parametrize("wire", ["fp32", "fp16", "bf16"])
def test_a_dense_exchange_sends_what_the_formula_says(wire: str) -> None:
    ranks, count = 3, 3 * CHUNK

    def work(communicator: Communicator) -> int:
        values, slices = numbers(communicator.rank, count), bounds(count, ranks)
        port = Port(communicator, create_wire(wire))
        run(reduce_scatter(port, range(ranks), values, slices, 20))
        run(all_gather(port, range(ranks), values, slices, 20))
        return communicator.sent

    size = 4 if wire == "fp32" else 2
    assert run_ranks(ranks, work) == [2 * (ranks - 1) * count * size // ranks] * ranks


def test_one_rank_gives_its_values_to_all() -> None:
    def work(communicator: Communicator) -> np.ndarray:
        values = numbers(communicator.rank, 100)
        run(one_to_all(Port(communicator), range(3), 1, values, 20))
        return values

    for result in run_ranks(3, work):
        assert (result == numbers(1, 100)).all()


def test_means_and_objects_reach_everybody() -> None:
    def work(communicator: Communicator) -> tuple[list[float], object, list[object]]:
        values = np.array([communicator.rank, 10.0])
        run(mean(Port(communicator), values))
        said = run(broadcast_object(communicator, {"from": communicator.rank}))
        return values.tolist(), said, run(gather_objects(communicator, communicator.rank))

    first, *others = run_ranks(4, work)
    assert first == ([1.5, 10.0], {"from": 0}, [0, 1, 2, 3])
    assert others == [([1.5, 10.0], {"from": 0}, [])] * 3


def test_an_object_that_cannot_travel_is_an_error_on_all_ranks_that_wait_for_it() -> None:
    def work(communicator: Communicator, root: int, collect: Any) -> str:
        mine = {1, 2} if communicator.rank == 1 else 0
        try:
            run(collect(communicator, mine, root))
        except PcdError as e:
            return str(e)
        return ""

    says = "rank 1: set does not go from rank to rank: {1, 2}. Send numbers"
    told = run_ranks(3, lambda c: work(c, 1, broadcast_object))
    assert all(words.startswith(says) for words in told)
    told = run_ranks(3, lambda c: work(c, 0, gather_objects))
    assert [words[: len(says)] for words in told] == [says, says, ""]


def test_nodes_are_known_by_their_hosts() -> None:
    nodes = Nodes.by_host(["a", "b", "a", "c", "b"])
    assert nodes.of_rank == (0, 1, 0, 2, 1)
    assert nodes.leaders == (0, 1, 3)
    assert nodes.mates(4) == (1, 4)
    assert nodes.host(3) == "c"


def test_mates_share_memory_and_wait_for_each_other() -> None:
    def work(communicator: Communicator) -> list[int]:
        node = Node(communicator)
        shared = communicator.share(len(node.mates), np.int64)
        shared[node.place] = 10 + communicator.rank
        run(node.meet(20))
        return shared.tolist()

    assert run_ranks(["a", "b", "a"], work) == [[10, 12], [11], [10, 12]]


# -- the wire --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "error"), [("fp16", 2**-11), ("bf16", 2**-8)])
def test_half_formats_round_to_the_nearest(name: str, error: float) -> None:
    wire, values = create_wire(name), numbers(0, 10_000)
    received = wire.unpack(wire.pack(values))
    assert (np.abs(received - values) <= error * np.abs(values) + 1e-7).all()
    assert (received != values).any()
    again = received.copy()
    wire.round(again)
    assert (again == received).all()


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_half_formats_carry_nan_and_large_numbers(name: str) -> None:
    wire = create_wire(name)
    values = np.array([np.nan, 1e30, -1e30, 0, -0.0], np.float32)
    received = wire.unpack(wire.pack(values))
    assert np.isnan(received[0])
    assert np.isfinite(received[1:]).all()
    assert received[1] > 6e4 and received[2] < -6e4
    assert (received[3:] == 0).all()


# -- the budget ------------------------------------------------------------------------------------


def test_a_budget_is_kept_over_any_stretch_of_time() -> None:
    now = [0.0]
    bucket = TokenBucket(1000, clock=lambda: now[0])
    sent: list[tuple[float, int]] = []
    rng = np.random.default_rng(0)
    while now[0] < 20:
        size = int(rng.integers(1, 50))
        if bucket.take(size):
            sent.append((now[0], size))
        now[0] += 0.002
    times = np.array([t for t, _ in sent])
    totals = np.cumsum([0] + [size for _, size in sent])
    for begin in (0.0, 3.3, 10.0):
        for length in (0.1, 1.0, 9.0):
            inside = np.searchsorted(times, [begin, begin + length])
            taken = totals[inside[1]] - totals[inside[0]]
            assert taken <= 1000 * (length + BURST_SECONDS) + 50
    assert totals[-1] > 0.95 * 1000 * 20


def test_a_budget_is_for_what_leaves_the_node() -> None:
    def work(communicator: Communicator) -> tuple[bool, bool]:
        bucket = TokenBucket(1, clock=lambda: 0.0)
        bucket.take(10**6)
        port = Port(communicator, pace=bucket)
        return port.allows([0], 1), port.allows([2], 1)

    assert run_ranks(["a", "a", "b"], work)[1] == (True, False)
