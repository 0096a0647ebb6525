import pytest

from pycaffe_dist.cli import launch as verb
from pycaffe_dist.cli import main
from pycaffe_dist.parallel.hostfile import Host
from pycaffe_dist.tools.launch import LaunchOptions, Place, newest


@pytest.fixture
def launched(monkeypatch):
    """What would be launched."""
    seen = []
    monkeypatch.setattr(verb, "launch", lambda options: seen.append(options) or 0)
    return seen


def test_flags_before_the_dashes_are_of_launch(launched):
    argv = ["launch", "--ranks", "2", "--max-restarts", "7", "--heartbeat-timeout", "90s"]
    assert main([*argv, "--", "train", "-solver", "s.prototxt", "-q"]) == 0
    train = ["-solver", "s.prototxt", "-q"]
    assert launched == [LaunchOptions(Place(2), train, max_restarts=7, heartbeat_timeout=90)]


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
        (["--heartbeat-timeout", "soon", "--", "train", "-solver", "s"], 1, "is not a time"),
    ],
)
def test_what_cannot_be_launched(launched, capsys, argv, code, text):
    assert main(["launch", *argv]) == code
    assert text in capsys.readouterr().err
    assert launched == []


def test_a_damaged_snapshot_is_passed_over(tmp_path, caplog):
    there = str(tmp_path / "run_iter_5.solverstate")
    far = "/no/such/folder/run_iter_3.solverstate"
    (tmp_path / "run_iter_5.solverstate").write_bytes(b"cut")
    assert newest([]) is None
    assert newest([there]) is None
    assert newest([far, there]) == far
    assert "Passing over a damaged snapshot" in caplog.text
