from itertools import combinations

import pytest

from pycaffe_dist.parallel.job import checkup
from pycaffe_dist.testing.ranks import run_ranks


@pytest.mark.parametrize("count", [2, 3, 4, 7, 8])
def test_every_pair_has_a_round_and_nobody_is_in_two_pairs_of_one(count):
    found = list(checkup.rounds(count))
    for pairs in found:
        ranks = [rank for pair in pairs for rank in pair]
        assert len(ranks) == len(set(ranks))
    together = [pair for pairs in found for pair in pairs]
    assert sorted(together) == list(combinations(range(count), 2))
    assert len(found) == count - 1 + count % 2


def test_ranks_tell_what_they_are_and_measure_all_links(monkeypatch):
    monkeypatch.setattr(checkup, "measure_rank", lambda: (2e9, 3e9))
    first, *others = run_ranks(3, checkup.examine)
    assert [rank["host"] for rank in first["ranks"]] == ["host0", "host1", "host2"]
    assert all(rank["flops"] == 2e9 and rank["free"] <= rank["memory"] for rank in first["ranks"])
    ends = sorted((a, b) for a, b, latency, bandwidth in first["links"] if latency > 0 < bandwidth)
    assert ends == [(0, 1), (0, 1), (0, 2), (0, 2), (1, 2), (1, 2)]  # as both ends saw them
    assert all(other["ranks"] == [] for other in others)


def test_a_clock_that_is_ahead_is_noticed(monkeypatch):
    import threading
    import time

    def now(real=time.time):
        return real() + (5 if threading.current_thread().name in late else 0)

    late = set()

    def work(communicator):
        if communicator.rank == 1:
            late.add(threading.current_thread().name)
        return checkup.clock_ahead(communicator)

    monkeypatch.setattr(checkup.time, "time", now)
    assert run_ranks(3, work) == pytest.approx([0, 5, 0], abs=1)
