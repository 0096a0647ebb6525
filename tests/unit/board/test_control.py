"""What is started and told from the page."""

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pycaffe_dist.board import control
from pycaffe_dist.board.places import Places
from pycaffe_dist.errors import FileError, NetError


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "solver.prototxt").touch()
    return Places([str(tmp_path / "runs")])


FORM = {"solver": "runs/solver.prototxt", "name": "a.b"}
WORDS = ["train", "--solver", "runs/solver.prototxt", "--run-dir", "runs/a.b"]


def test_the_words_of_a_form(places, tmp_path):
    assert control.command(places, FORM) == (WORDS, tmp_path / "runs" / "a.b")
    more = {"settings": ["base_lr=0.1", "type=Adam"], "ranks": 2, "max_iter": "30"}
    words = control.command(places, FORM | more)[0]
    assert words == [
        *WORDS,
        *("--set", "base_lr=0.1", "--set", "type=Adam", "--ranks", "2", "--max-iter", "30"),
    ]
    assert control.command(places, FORM | {"ranks": 0, "max_iter": ""})[0] == WORDS
    assert control.shown(["train", "a b"]) == "pcd train 'a b'"
    with pytest.raises(FileError, match=r"none.prototxt: there is no such solver"):
        control.command(places, FORM | {"solver": "runs/none.prototxt"})
    with pytest.raises(NetError, match="a run's name has letters"):
        control.command(places, FORM | {"name": ""})


def test_a_run_lives_on_when_the_board_ends(places, tmp_path, monkeypatch):
    started = []

    def popen(words, **how):
        started.append((words, how, how["stdout"].name, how["stdout"].mode))
        return SimpleNamespace(pid=77)

    monkeypatch.setattr(control.subprocess, "Popen", popen)
    said, process = control.start(places, FORM)
    assert said == {"command": control.shown(WORDS), "process": 77, "run": "a.b"}
    ((words, how, log, mode),) = started
    assert words == [sys.executable, "-m", "pycaffe_dist", *WORDS] and process.pid == 77
    assert how["start_new_session"] is True and how["stdin"] == subprocess.DEVNULL
    assert how["stderr"] is how["stdout"]
    assert (str(log), mode) == (str(tmp_path / "runs" / "a.b" / "board.log"), "ab")


@pytest.mark.parametrize(("what", "number"), [("stop", signal.SIGINT), ("snapshot", signal.SIGHUP)])
def test_what_a_run_is_told(monkeypatch, what, number):
    sent = []
    monkeypatch.setattr(control.os, "kill", lambda *words: sent.append(words))
    run = SimpleNamespace(name="r", process=lambda: 77)
    assert control.tell(run, what) == {"told": what, "process": 77}
    assert sent == [(77, number)]
    with pytest.raises(NetError, match="'go': a run can be told to stop or to snapshot"):
        control.tell(run, "go")
    run.process = lambda: None
    with pytest.raises(NetError, match="r: is not running on this machine"):
        control.tell(run, what)
    assert len(sent) == 1
