"""Who takes part in the attempts of an elastic run."""

from types import SimpleNamespace

import pytest

from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.tools import elastic
from pycaffe_dist.tools.elastic import Elastic, Team
from pycaffe_dist.tools.place import Place

HOSTS = Place(5, (Host("a", 2), Host("b", 2), Host("c", 1)))


def job(kept=None, away=(), lost=(), answers=(), stalls=()):
    """What a team looks at of a job."""

    def probe(ways):
        silent = [host for host in ways if host not in answers]
        return SimpleNamespace(silent=lambda: silent, end=lambda: None)

    return SimpleNamespace(
        kept=kept,
        away=list(away),
        words=SimpleNamespace(lost=list(lost)),
        stalls=list(stalls),
        started=False,
        hosts=HOSTS.hosts,
        ways=lambda: {host.name: ["ssh", host.name] for host in HOSTS.hosts},
        probe=probe,
    )


def ranks_after(team, *jobs):
    found = []
    for one in jobs:
        team.after_failure(one)
        found.append(team.place.ranks)
    return found


def test_a_rank_that_was_lost_on_the_way_is_started_again():
    team = Team(Place(3), Elastic(2, 3))
    assert ranks_after(team, job(5), job(10), job(15)) == [3, 3, 3]
    assert team.complete


def test_attempts_that_get_no_further_leave_out_ranks_down_to_the_least():
    team = Team(Place(4), Elastic(2, 4))
    # With fewer than the least all are tried again.
    assert ranks_after(team, job(), job(), job(), job(), job()) == [4, 3, 2, 4, 4]
    team = Team(Place(4), Elastic(1, 4))
    assert ranks_after(team, job(5), job(), job(), job(), job(10)) == [4, 4, 3, 2, 4]
    team = Team(Place(4), Elastic(1, 4), fits=[1, 2, 4])  # the batch does not divide by 3
    assert ranks_after(team, job(), job()) == [4, 2]


def test_all_stay_where_nothing_is_elastic():
    team = Team(Place(3))
    assert ranks_after(team, job(), job(), job()) == [3, 3, 3]
    assert not team.wants_to_join(job(5))


def test_only_a_newer_snapshot_is_progress():
    for asked in (None, Elastic(1, 3)):
        team = Team(Place(3), asked)
        assert team.progressed(job(5))
        team.after_failure(job(5))
        assert not team.progressed(job(5))
        assert not team.progressed(job())
        assert team.progressed(job(10))


def test_ranks_join_at_a_new_snapshot_when_their_time_has_come():
    for seconds, joins in ((0, True), (1000, False)):
        team = Team(Place(3), Elastic(2, 3, join_after=seconds))
        team.after_failure(job())
        team.after_failure(job())
        assert not team.complete
        assert not team.wants_to_join(job())
        assert team.wants_to_join(job(5)) is joins
    team = Team(Place(3), Elastic(2, 3, join_after=0))
    ranks_after(team, job(), job())
    team.join(job(5))
    assert team.complete
    assert not team.wants_to_join(job(10))


def test_a_host_that_does_not_answer_is_left_out_until_it_does():
    team = Team(HOSTS, Elastic(2, 5, join_after=0))
    team.after_failure(job(5, lost=["b"]))
    assert team.place == Place(3, (Host("a", 2), Host("c", 1)))
    for _ in range(3):
        assert not team.wants_to_join(job(10))
    team = Team(HOSTS, Elastic(2, 5, join_after=0))
    team.after_failure(job(5, away=["a"]))
    assert [host.name for host in team.place.hosts] == ["b", "c"]
    back = job(10, answers=["a"])
    assert [team.wants_to_join(back) for _ in range(2)] == [False, True]
    team.join(back)
    assert team.place == HOSTS


def test_a_host_that_is_cut_off_is_found_by_asking(monkeypatch):
    monkeypatch.setattr(elastic, "ASK_SECONDS", 0.1)
    for answers, names in ((["a", "c"], ["a", "c"]), (["a", "b", "c"], ["a", "b", "c"])):
        team = Team(HOSTS, Elastic(2, 5))
        stalled = job(5, answers=answers, stalls=["rank 2 did not answer"])
        team.wants_to_join(stalled)  # learns how mpirun gets to hosts
        team.after_failure(stalled)
        assert [host.name for host in team.place.hosts] == names


def test_hosts_give_as_many_ranks_as_can_divide_the_batch():
    team = Team(HOSTS, Elastic(1, 5), fits=[1, 2, 5])
    team.after_failure(job(5, lost=["c"]))
    assert team.place == Place(2, (Host("a", 2),))


@pytest.mark.parametrize("text", ["3", "3:2", "0:2", "a:b", "1:2:3", ""])
def test_what_is_no_range_of_ranks(text):
    with pytest.raises(NetError, match="the least and the most ranks"):
        Elastic.parse(text, "keep", 20.0)
