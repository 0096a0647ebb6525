"""``pycaffe_dist.train``: its arguments, and rows that come from processes."""

from types import SimpleNamespace

import pytest

from pycaffe_dist import events
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.tools import start


def test_flags_become_words():
    flags = {
        "overlap": False,
        "nccl": True,
        "quiet": True,
        "shuffle": False,
        "set": ["a=1", "b=2"],
        "max_iter": 7,
        "run_dir": None,
        "staleness": 0,
    }
    words = ["--solver", "s", "--ranks", "3", "--comm", "dense"]
    assert start._arguments("s", 3, "dense", {}) == words
    assert start._arguments("s", 3, "dense", flags) == [
        *words,
        *("--overlap", "off", "--nccl", "on", "--quiet", "--set", "a=1", "--set", "b=2"),
        *("--max-iter", "7", "--staleness", "0"),
    ]


def test_flags_are_of_training_or_of_the_cluster():
    options = start._options("s", "dense", {"max_iter": 7, "staleness": 2})
    assert (options.solver, options.max_iter) == ("s", 7)
    assert (options.cluster.comm, options.cluster.staleness) == ("dense", 2)
    for name in ("max_itre", "cluster", "command"):
        with pytest.raises(NetError, match=rf"train\(\) has no argument {name}"):
            start._options("s", "auto", {name: 1})
    with pytest.raises(NetError, match=r'did you mean "max_iter"'):
        start._options("s", "auto", {"max_itre": 1})


@pytest.mark.parametrize(
    ("ranks", "launched", "apart"), [(2, False, True), (1, False, False), (2, True, False)]
)
def test_several_ranks_are_processes_unless_a_launcher_has_started_them(
    monkeypatch, tmp_path, ranks, launched, apart
):
    def here(options, communicator, subscribers):
        assert (options.solver, communicator.size) == ("s", ranks)
        subscribers[0](events.SolveBegins(0, "net", "fixed", 9))
        return 0

    monkeypatch.setattr(start, "launched", lambda: launched)
    monkeypatch.setattr(start, "connect", lambda: SimpleNamespace(size=ranks))
    monkeypatch.setattr(start, "train_here", here)
    monkeypatch.setattr(start, "resolve", lambda options: None)
    monkeypatch.setattr(start, "metrics_path", lambda *_: str(tmp_path / "m"))
    monkeypatch.setattr(start, "_in_processes", lambda words, path, callbacks: [words[3], path])
    seen = []
    found = start.train("s", ranks, callbacks=[seen.append])
    if apart:
        assert found == ["2", tmp_path / "m"]
    else:
        assert [row["max_iter"] for row in found] == [9] and seen == found


def test_what_a_launcher_started_must_be_what_is_asked_for(monkeypatch):
    monkeypatch.setattr(start, "launched", lambda: True)
    monkeypatch.setattr(start, "connect", lambda: SimpleNamespace(size=3))
    with pytest.raises(NetError, match=r"train\(ranks=2\), but the launcher started 3"):
        start.train("s", 2)
    monkeypatch.setattr(start, "train_here", lambda *_: 5)
    for ranks in (3, None):
        with pytest.raises(PcdError, match=r"ended by a signal \(exit code 5\)"):
            start.train("s", ranks)


# -- processes -------------------------------------------------------------------------------------


class Process:
    """Ends after some looks; before each of them another row is written."""

    def __init__(self, path, looks, code=0):
        self.path, self.looks, self.code, self.ended = path, looks, code, False
        self.written = 0

    def poll(self):
        if self.written == self.looks:
            return self.code
        with open(self.path, "a") as file:
            file.write(f'{{"kind": "train", "iteration": {self.written}}}\n')
        self.written += 1
        return None

    def wait(self):
        return self.code

    def terminate(self):
        self.ended = True


@pytest.fixture
def launch(tmp_path, monkeypatch):
    path, slept = tmp_path / "metrics.jsonl", []
    monkeypatch.setattr(start.time, "sleep", slept.append)

    def run(looks, code=0, callbacks=()):
        process = Process(path, looks, code)
        monkeypatch.setattr(start.subprocess, "Popen", lambda words: process)
        run.process, run.slept = process, slept
        return start._in_processes(["--solver", "s"], path, callbacks)

    run.path = path
    return run


def test_rows_are_told_as_they_come(launch):
    seen = []
    rows = launch(3, callbacks=[lambda row: seen.append((row["iteration"], len(launch.slept)))])
    assert [row["iteration"] for row in rows] == [0, 1, 2]
    assert seen == [(0, 0), (1, 1), (2, 2)] and launch.slept == [start.POLL_SECONDS] * 3


def test_rows_of_a_run_before_are_not_told_again(launch):
    launch.path.write_text('{"kind": "train", "iteration": 70}\n' * 2)
    assert [row["iteration"] for row in launch(2)] == [0, 1]


def test_a_process_that_fails_is_told_and_one_that_is_not_wanted_ends(launch):
    with pytest.raises(PcdError, match="pcd train ended with exit code 3; it says above why"):
        launch(1, code=3)
    assert not launch.process.ended

    def refuse(row):
        raise KeyError

    with pytest.raises(KeyError):
        launch(1, callbacks=[refuse])
    assert launch.process.ended


def test_a_process_that_writes_nothing_has_no_rows(launch):
    assert launch(0) == [] and launch.slept == []
