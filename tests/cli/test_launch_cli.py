import io
import signal

import pytest

from pycaffe_dist import events as e
from pycaffe_dist.cli import launch as verb
from pycaffe_dist.cli import main
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.hostfile import Host
from pycaffe_dist.solver import Action
from pycaffe_dist.tools.launch import LaunchOptions, Screen, newest
from pycaffe_dist.tools.place import Place


@pytest.fixture
def launched(monkeypatch):
    """What would be launched."""
    seen = []
    monkeypatch.setattr(verb, "launch", lambda options, signals: seen.append(options) or 0)
    return seen


def test_flags_before_the_dashes_are_of_launch(launched):
    argv = ["launch", "--ranks", "2", "--max-restarts", "7", "--heartbeat-timeout", "90s"]
    assert main([*argv, "--", "train", "-solver", "s.prototxt", "-q"]) == 0
    train = ["-solver", "s.prototxt", "-q"]
    assert launched == [LaunchOptions(Place(2), train, max_restarts=7, heartbeat_timeout=90)]


def test_signals_have_the_effects_that_train_asks_for(monkeypatch):
    effects = []
    monkeypatch.setattr(verb, "launch", lambda _, signals: effects.append(signals.effects) or 0)
    main(["launch", "--", "train", "-solver", "s", "-sigint_effect", "snapshot"])
    assert effects[0][signal.SIGINT] is Action.SNAPSHOT


def test_what_may_be_wrong_with_a_place_is_said(monkeypatch, caplog):
    def resolve(name, _):
        if name == "far":
            raise OSError(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    Place(2, (Host("near", 1), Host("far", 1))).warn()
    assert "no address for the host far (Name or service not known)" in caplog.text
    assert "near" not in caplog.text
    Place(1000).warn()
    assert "1000 ranks take turns on" in caplog.text


def test_where_train_says_how_many_ranks_launch_need_not(launched):
    main(["launch", "--", "train", "-solver", "s.prototxt", "--num_clients=3"])
    assert launched[0].place == Place(3)


def test_hosts(launched, tmp_path):
    (tmp_path / "hosts").write_text("0 10.0.0.1 9999\n1 10.0.0.1 9998\n2 10.0.0.2 9999\n")
    main(["launch", "--hostfile", str(tmp_path / "hosts"), "--", "train", "-solver", "s"])
    assert launched[0].place == Place(3, (Host("10.0.0.1", 2), Host("10.0.0.2", 1)))


@pytest.mark.parametrize(
    ("argv", "code", "text"),
    [
        ([], 2, "-- train"),
        (["--ranks", "2", "train"], 2, "-- train"),
        (["--", "test", "-model", "m"], 1, "what can be launched is train"),
        (["--ranks", "0", "--", "train", "-solver", "s"], 1, "there is at least one"),
        (["--ranks", "2", "--", "train", "-solver", "s", "--ranks", "3"], 1, "train for 3"),
        (["--max-restarts", "-1", "--", "train", "-solver", "s"], 1, "0 or more"),
        (["--ranks", "99999", "--", "train", "-solver", "s"], 1, "at most"),
        (["--heartbeat-timeout", "soon", "--", "train", "-solver", "s"], 1, "is not a time"),
    ],
)
def test_what_cannot_be_launched(launched, capsys, argv, code, text):
    assert main(["launch", *argv]) == code
    assert text in capsys.readouterr().err
    assert launched == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_launcher_shows_how_far_rank_0_is(monkeypatch, capfd):
    monkeypatch.setenv(lifeline.VARIABLE, "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Terminal())
    screen = Screen()
    score = e.Output(0, "accuracy", 0.5)
    relay = lifeline.Relay(16, clock=lambda: 0.0)
    for event in (
        e.SolveBegins(0, "net", "fixed", 100),
        e.Updated(1, 2.5, 0.1),  # too soon after the one before
        e.Tested(1, 0, [score]),
        e.Snapshotted(1, "w", "s"),
    ):
        relay(event)
    relay = lifeline.Relay(16, clock=iter((1.0, 1.1, 1.3)).__next__)
    for iteration in (5, 6, 7):
        relay(e.Updated(iteration, 2.5, 0.1))
    signs = filter(None, map(lifeline.heard, capfd.readouterr().out.split("\n")))
    for word, value in signs:
        assert word == lifeline.EVENT
        screen.hear(value)
        assert screen.iteration in (0, 5, 7)
    assert (screen.iteration, screen.max_iter, screen.batch_size) == (7, 100, 16)
    assert "accuracy 0.5" in screen.line(200)
    screen.put(b"a line of the log\n")
    last = screen.stream.getvalue().rpartition("a line of the log\n")[2]
    assert "iteration 7/100" in last


def test_only_a_terminal_asks_for_progress(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("pycaffe_dist.parallel.job.supervisor.find_mpirun", lambda: None)
    assert lifeline.PROGRESS not in Screen().job([], Place(2), {}).env
    monkeypatch.setattr("sys.stderr", Terminal())
    assert lifeline.PROGRESS in Screen().job([], Place(2), {}).env
    assert lifeline.PROGRESS not in Screen().job([], Place(1), {}).env


def test_a_damaged_snapshot_is_passed_over(tmp_path, caplog):
    there = str(tmp_path / "run_iter_5.solverstate")
    far = "/no/such/folder/run_iter_3.solverstate"
    (tmp_path / "run_iter_5.solverstate").write_bytes(b"cut")
    assert newest([]) is None
    assert newest([there]) is None
    assert newest([far, there]) == far
    assert "Passing over a damaged snapshot" in caplog.text
