import json
from types import SimpleNamespace

import pytest

from pycaffe_dist.cli import doctor, main
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.tools import doctor as doctor_tool
from pycaffe_dist.tools.doctor import Diagnosis, examine

SOUND = {
    "python": "3.13.1",
    "pycaffe_dist": "0.1.0",
    "numpy": "2.4.6",
    "protobuf": "7.1",
    "mpi4py": "4.1",
    "cores": 8,
    "memory": 32e9,
    "free": 20e9,
    "disk": 100e9,
    "flops": 50e9,
    "memory_bandwidth": 10e9,
    "clock": 0.0,
}
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def diagnosis(changes=(), links=()):
    hosts = [{**SOUND, "host": f"node{i}"} for i in range(4)]
    for host, name, value in changes:
        hosts[host][name] = value
    slow = dict(links)
    measured = [
        [*pair, *slow.get((pair, end), (1e-4, 1.2e8))] for pair in PAIRS for end in range(2)
    ]
    return Diagnosis.of({"ranks": hosts, "links": measured})


def test_what_is_just_enough_is_no_problem():
    least = [(1, "disk", doctor_tool.LEAST_DISK), (2, "clock", doctor_tool.CLOCK_SECONDS)]
    assert diagnosis(least).problems() == []
    assert len(diagnosis([(1, "disk", doctor_tool.LEAST_DISK - 1)]).problems()) == 1
    assert len(diagnosis([(2, "clock", -1.01 * doctor_tool.CLOCK_SECONDS)]).problems()) == 1


def test_sound_hosts_have_no_problem():
    found = diagnosis()
    assert found.problems() == []
    text = "\n".join(found.as_text())
    assert "No problem was found." in text
    assert "node0 - node1   100 us  960 Mbit/s" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((1, "numpy", "1.26.4"), "numpy differs: 1.26.4 on node1; 2.4.6 on node0, node2, node3"),
        ((2, "clock", 3.25), "node2: its clock is 3.2 s ahead of that of node0"),
        ((2, "clock", -2.0), "node2: its clock is 2.0 s behind that of node0"),
        ((3, "flops", 20e9), "node3: computes at 40% of the usual rate"),
        ((0, "free", 1e9), "node0: has 1 GB of memory free"),
        ((0, "disk", 2e8), "node0: has 200 MB free on the disk"),
    ],
)
def test_a_host_that_is_out_of_line_is_named(change, says):
    (found,) = diagnosis([change]).problems()
    assert found.startswith(says)


def test_a_link_that_is_slow_as_one_of_its_ends_saw_it_is_named():
    (found,) = diagnosis(links={((1, 3), 1): (1e-4, 3e7)}.items()).problems()
    assert found == "the link between node1 and node3 has 25% of the usual bandwidth"
    (found,) = diagnosis(links={((0, 2), 0): (1e-3, 1.2e8)}.items()).problems()
    assert found == "the link between node0 and node2 takes 10.0 times as long"


@pytest.mark.parametrize(("count", "named"), [(2, False), (3, True)])
def test_two_links_have_no_median(count, named):
    hosts = [{**SOUND, "host": f"node{i}"} for i in range(3)]
    links = [[0, 1, 1e-4, 1e7], [0, 2, 1e-4, 1.2e8], [1, 2, 1e-4, 1.2e8]][:count]
    found = Diagnosis.of({"ranks": hosts, "links": links}).problems()
    assert [text for text in found if "between node0 and node1" in text] == found
    assert bool(found) == named


def test_ranks_of_one_host_are_told_apart():
    hosts = [{**SOUND, "host": "here"}, {**SOUND, "host": "here"}]
    found = Diagnosis.of({"ranks": hosts, "links": [[0, 1, 1e-5, 1e9]]})
    assert [link.one for link in found.links] == ["here (rank 0)"]


def test_one_host_alone_is_refused():
    with pytest.raises(NetError, match="name two or more"):
        examine([Host("node0", 4)], 2)


@pytest.mark.parametrize(("change", "code"), [((3, "flops", 2e9), 0), ((3, "numpy", "1.26"), 1)])
def test_only_what_keeps_hosts_from_training_together_is_a_failure(
    monkeypatch, capsys, change, code
):
    monkeypatch.setattr(doctor, "examine", lambda hosts, ranks: diagnosis([change]))
    assert main(["doctor", "--ranks", "4"]) == code
    assert "node3" in capsys.readouterr().out


# -- waiting for an answer -------------------------------------------------------------------------


class Job:
    """Runs until a second and speaks at one, by a clock that goes on while one sleeps."""

    away, culprit = (), ""
    words = SimpleNamespace(killed="")
    now, ends, speaks = 0.0, 1e9, 1e9

    def __init__(self, program, ranks, hosts, hear):
        self.hear = hear
        type(self).heard_out = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        type(self).left = self.now

    @property
    def running(self):
        return self.now < self.ends

    def hear_out(self):
        type(self).heard_out = True


@pytest.fixture
def job(monkeypatch):
    """Sets what a job does, and runs the examination with it; what it found, and when it left."""

    def run(**facts):
        kind = type("Job", (Job,), facts)

        def sleep(seconds):
            kind.now += seconds
            if run.job and kind.now >= kind.speaks and not run.said:
                run.said = True
                run.job.hear(json.dumps({"ranks": [{**SOUND, "host": "a"}] * 2, "links": []}))

        class Started(kind):
            def __init__(self, *words, **more):
                super().__init__(*words, **more)
                run.job = self

        run.job, run.said, run.kind = None, False, Started
        clock = SimpleNamespace(monotonic=lambda: kind.now, sleep=sleep)
        monkeypatch.setattr(doctor_tool, "time", clock)
        monkeypatch.setattr(doctor_tool, "Job", Started)
        silent = SimpleNamespace(away=lambda now: bool(kind.away) and now >= 3)
        monkeypatch.setattr(doctor_tool, "Hosts", lambda *_: silent)
        return examine([], 2)

    return run


def test_an_answer_ends_the_wait(job):
    assert isinstance(job(speaks=5.0), Diagnosis)
    assert job.kind.left == pytest.approx(5, abs=0.3) and job.kind.heard_out


def test_what_is_said_last_may_come_after_the_end(job):
    assert isinstance(job(ends=4.0, speaks=4.5), Diagnosis)
    with pytest.raises(PcdError, match="the check-up did not end: it fell"):
        job(ends=4.0, culprit="it fell")
    assert job.kind.left == pytest.approx(5, abs=0.3)


def test_hosts_that_do_not_answer_and_long_silence_are_told(job):
    with pytest.raises(PcdError, match="no answer from node1, node2: does ssh get there"):
        job(away=("node1", "node2"))
    assert job.kind.left < 5
    with pytest.raises(PcdError, match=f"nothing was heard for {doctor_tool.MOST_SECONDS:.0f} s"):
        job()
    assert job.kind.left == pytest.approx(doctor_tool.MOST_SECONDS + 1, abs=0.5)
