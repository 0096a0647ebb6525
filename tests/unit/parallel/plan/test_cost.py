from dataclasses import replace

import pytest

from pycaffe_dist.parallel.plan.cost import CostModel, Load
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.schemes.scheme import schemes

# A byte a second between nodes; nothing else takes time.
LINK_ONLY = Links(AlphaBeta(0.0, 1.0), AlphaBeta(0.0, 0.0), 1e30, 1e30, handling=0.0)
MATRIX = Load(values=12, rows=2, outputs=4, inputs=3)


def cluster(ranks, nodes=None, links=LINK_ONLY, **settings):
    return CostModel(ranks, nodes or ranks, links, **settings)


def cost(scheme, model):
    return schemes()[scheme].cost(model, MATRIX)


# -- one exchange ----------------------------------------------------------------------------------


def test_link_seconds_are_those_of_the_bytes():
    four = cluster(4)
    assert cost("allreduce", four).link == pytest.approx(2 * 3 / 4 * 4 * 12)
    assert cost("sharded", four).link == pytest.approx(2 * 3 / 4 * 4 * 12)
    assert cost("updates", four).link == pytest.approx(2 * 3 / 4 * 4 * 12)
    assert cost("sfb", four).link == pytest.approx(4 * 2 * 3 * (4 + 3))
    # The owner receives everybody's factors, then sends everybody the matrix.
    assert cost("sf-push", four).link == pytest.approx(4 * 2 * 3 * 7 + 3 * 4 * 12)


def test_every_message_pays_the_latency():
    latency = replace(LINK_ONLY, between=AlphaBeta(1.0, 0.0))
    four = cluster(4, links=latency)
    assert cost("allreduce", four).link == cost("updates", four).link == 6
    assert cost("sfb", four).link == 3
    assert cost("sf-push", four).link == 3 + 3
    assert cost("sf-push", cluster(4, 2, latency)).link == 2 + 1  # of each rank, and back


def test_a_leader_sends_the_factors_of_all_its_ranks_but_one_sum():
    # 2 ranks' factors to the other node; an all-reduce crosses the link once for the node.
    assert cost("sfb", cluster(4, 2)).link == 2 * (4 * 2 * 7)
    four, two = (cost("allreduce", cluster(ranks, 2)) for ranks in (4, 2))
    assert (four.bytes, four.link) == (two.bytes, two.link)


def test_within_a_node_nothing_is_sent_and_copying_is_work():
    copying = replace(LINK_ONLY, within=AlphaBeta(0.0, 1.0))
    for scheme in ("allreduce", "sharded", "sfb", "sf-push"):
        found = cost(scheme, cluster(4, 1, copying))
        assert found.link == found.bytes == 0
        # Factors are read where they are; matrices go into the node's memory and out again.
        assert found.work == pytest.approx(0 if scheme == "sfb" else 4 * 12)


def test_ranks_that_do_not_divide_evenly_count_as_the_fullest_node():
    assert cluster(5, 2).per_node == 3


def test_rebuilding_is_the_other_ranks_gemms():
    gemm = replace(LINK_ONLY, gemm_flops=1.0)
    for scheme in ("sfb", "sf-push"):
        assert cost(scheme, cluster(4, links=gemm)).work == pytest.approx(3 * (2 * 2 * 4 * 3))
    assert cost("allreduce", cluster(4, links=gemm)).work == pytest.approx(0)


def test_a_rule_with_more_history_updates_slower_and_a_shard_faster():
    memory = replace(LINK_ONLY, memory_bandwidth=1.0)
    sgd, adam = (cluster(4, links=memory, histories=n) for n in (1, 2))
    assert sgd.update(12) == 2 * 3 * 4 * 12
    assert adam.update(12) == 2 * 4 * 4 * 12
    assert cost("allreduce", cluster(1, links=memory)).work == sgd.update(12)
    saved = cost("allreduce", sgd).work - cost("sharded", sgd).work
    assert saved == pytest.approx(3 / 4 * sgd.update(12))


def test_moving_bytes_takes_the_processor_while_they_are_on_the_link():
    busy = replace(LINK_ONLY, handling=0.25)
    found = cost("allreduce", cluster(4, links=busy))
    assert found.handling == 0.25 * found.bytes and found.work == pytest.approx(0)
    assert found.link == found.bytes
    # A link that is faster than the processor waits for it.
    found = cost("sfb", cluster(4, links=replace(LINK_ONLY, handling=9.0)))
    assert found.link == pytest.approx(10 * found.bytes)
