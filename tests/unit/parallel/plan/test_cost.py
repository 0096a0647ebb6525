from dataclasses import replace

import pytest

from pycaffe_dist.parallel.plan.cost import Cluster, Job, LayerTimes, Load, step_seconds
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links

# A byte a second between nodes; nothing else takes time.
LINK_ONLY = Links(AlphaBeta(0.0, 1.0), AlphaBeta(0.0, 0.0), 1e30, 1e30, handling=0.0)
MATRIX = Load(values=12, rows=2, outputs=4, inputs=3)


def cluster(ranks, nodes=None, links=LINK_ONLY, **settings):
    return Cluster(ranks, nodes or ranks, links, **settings)


# -- one exchange ----------------------------------------------------------------------------------


def test_link_seconds_are_those_of_the_bytes():
    four = cluster(4)
    assert four.cost("allreduce", MATRIX).link == pytest.approx(2 * 3 / 4 * 4 * 12)
    assert four.cost("sharded", MATRIX).link == pytest.approx(2 * 3 / 4 * 4 * 12)
    assert four.cost("sfb", MATRIX).link == pytest.approx(4 * 2 * 3 * (4 + 3))
    # The owner receives everybody's factors, then sends everybody the matrix.
    assert four.cost("sf-push", MATRIX).link == pytest.approx(4 * 2 * 3 * 7 + 3 * 4 * 12)


def test_every_message_pays_the_latency():
    four = cluster(4, links=replace(LINK_ONLY, between=AlphaBeta(1.0, 0.0)))
    assert four.cost("allreduce", MATRIX).link == 6
    assert four.cost("sfb", MATRIX).link == 3


def test_a_leader_sends_the_factors_of_all_its_ranks_but_one_sum():
    # 2 ranks' factors to the other node; an all-reduce crosses the link once for the node.
    assert cluster(4, 2).cost("sfb", MATRIX).link == 2 * (4 * 2 * 7)
    four, two = (cluster(ranks, 2).cost("allreduce", MATRIX) for ranks in (4, 2))
    assert (four.bytes, four.link) == (two.bytes, two.link)


def test_within_a_node_nothing_is_sent_and_copying_is_work():
    copying = replace(LINK_ONLY, within=AlphaBeta(0.0, 1.0))
    for scheme in ("allreduce", "sharded", "sfb", "sf-push"):
        cost = cluster(4, 1, copying).cost(scheme, MATRIX)
        assert cost.link == cost.bytes == 0
        # Factors are read where they are; matrices go into the node's memory and out again.
        assert cost.work == pytest.approx(0 if scheme == "sfb" else 4 * 12)


def test_ranks_that_do_not_divide_evenly_count_as_the_fullest_node():
    assert cluster(5, 2).per_node == 3


def test_rebuilding_is_the_other_ranks_gemms():
    gemm = replace(LINK_ONLY, gemm_flops=1.0)
    for scheme in ("sfb", "sf-push"):
        assert cluster(4, links=gemm).cost(scheme, MATRIX).work == pytest.approx(
            3 * (2 * 2 * 4 * 3)
        )
    assert cluster(4, links=gemm).cost("allreduce", MATRIX).work == pytest.approx(0)


def test_a_rule_with_more_history_updates_slower_and_a_shard_faster():
    memory = replace(LINK_ONLY, memory_bandwidth=1.0)
    sgd, adam = (cluster(4, links=memory, histories=n) for n in (1, 2))
    assert sgd.update(12) == 2 * 3 * 4 * 12
    assert adam.update(12) == 2 * 4 * 4 * 12
    assert cluster(1, links=memory).cost("allreduce", MATRIX).work == sgd.update(12)
    saved = sgd.cost("allreduce", MATRIX).work - sgd.cost("sharded", MATRIX).work
    assert saved == pytest.approx(3 / 4 * sgd.update(12))


# -- a step ----------------------------------------------------------------------------------------

# Three layers: forward 1 second each, backward 2.
TIMES = LayerTimes((1.0, 1.0, 1.0), (2.0, 2.0, 2.0))


def test_without_exchanges_a_step_is_its_layers():
    assert step_seconds(TIMES, []) == 9


def test_an_exchange_hides_under_the_rest_of_backward():
    assert step_seconds(TIMES, [Job(2, 4.0, 0.0)]) == 9
    assert step_seconds(TIMES, [Job(2, 4.0, 0.0)], overlap=False) == 13


def test_forward_waits_for_a_layer_only_when_it_gets_there():
    # It arrives 6 seconds after layer 2's backward: 2 after all backward, when layer 2 is next.
    assert step_seconds(TIMES, [Job(2, 6.0, 0.0)]) == 9
    assert step_seconds(TIMES, [Job(2, 7.0, 0.0)]) == 10
    # What the first layer needs cannot hide.
    assert step_seconds(TIMES, [Job(0, 1.0, 0.0)]) == 10


def test_exchanges_take_the_link_one_after_the_other():
    assert step_seconds(TIMES, [Job(2, 5.0, 0.0), Job(0, 1.0, 0.0)]) == 6 + 2 + 3


def test_work_is_never_hidden():
    assert step_seconds(TIMES, [Job(2, 1.0, 0.5), Job(1, 1.0, 0.25)]) == 9.75


def test_clipping_waits_for_the_last_exchange_before_any_update():
    assert step_seconds(TIMES, [Job(2, 6.0, 0.0)], barrier=True) == 11


def test_stale_values_leave_only_the_busier_of_processor_and_link():
    jobs = [Job(0, 7.0, 0.5)]
    assert step_seconds(TIMES, jobs) == 16.5
    assert step_seconds(TIMES, jobs, stale=True) == 9.5
    assert step_seconds(TIMES, [Job(0, 20.0, 0.5)], stale=True) == 20


def test_of_several_passes_only_the_last_hides_an_exchange():
    assert step_seconds(TIMES, [Job(2, 7.0, 0.0)], passes=3) == 2 * 9 + 10
    assert step_seconds(TIMES, [Job(2, 7.0, 0.0)], passes=3, overlap=False) == 3 * 9 + 7
