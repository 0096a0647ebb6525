import os
import subprocess
import sys

import pytest

from pycaffe_dist.cli.plot import main
from pycaffe_dist.tools.plot import PlotError

LOG = """\
I1116 00:00:00.000000 1 solver.cpp:289] Solving LeNet
I1116 00:00:03.000000 1 solver.cpp:239] Iteration 0 (0 iter/s, 1s/100 iters), loss = 3
I1116 00:00:03.500000 1 sgd_solver.cpp:112] Iteration 0, lr = 0.1
I1116 00:00:08.000000 1 solver.cpp:239] Iteration 100 (0 iter/s, 1s/100 iters), loss = 2
"""
PNG = b"\x89PNG\r\n"


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.log").write_text(LOG)
    return "train.log"


def test_a_picture_beside_us(tmp_path, log, capsys):
    assert main([log]) == 0
    assert (tmp_path / "train.png").read_bytes().startswith(PNG)
    assert capsys.readouterr().out == "Wrote train.png\n"


def test_a_home_that_cannot_be_written_is_no_news(tmp_path, log):
    (tmp_path / "home").write_text("no folder, not even for root")
    env = {k: v for k, v in os.environ.items() if k not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME")}
    argv = [sys.executable, "-m", "pycaffe_dist", "plot", log]
    done = subprocess.run(
        argv, env={**env, "HOME": str(tmp_path / "home")}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote train.png\n", "")


def test_a_picture_of_two_where_we_want_it(tmp_path, log):
    (tmp_path / "b.log").write_text(LOG)
    assert main([log, "b.log", "-o", "both.png", "--x", "seconds", "--y", "loss, lr"]) == 0
    assert (tmp_path / "both.png").read_bytes().startswith(PNG)


def test_the_folder_of_a_run(tmp_path, log, capsys):
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / log).rename(tmp_path / "runs" / "one" / log)
    assert main(["runs/one", "--log-y", "--smooth", "3"]) == 0
    assert capsys.readouterr().out == "Wrote one.png\n"
    assert (tmp_path / "one.png").read_bytes().startswith(PNG)


def test_means_of_no_points(log, capsys):
    with pytest.raises(SystemExit):
        main([log, "--smooth", "0"])
    assert "--smooth: give a number of points from 1 up, not 0" in capsys.readouterr().err


def test_the_terminal(tmp_path, log, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "15")
    assert main([log, "--terminal", "--x", "seconds"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ". train loss"
    assert lines[-1].split() == ["3", "8", "seconds"]
    assert len(lines) == 14
    assert not (tmp_path / "train.png").exists()


def test_both(tmp_path, log, capsys):
    assert main([log, "--terminal", "-o", "x.png"]) == 0
    assert capsys.readouterr().out.endswith("Wrote x.png\n")
    assert (tmp_path / "x.png").exists()


def test_what_is_not_there(log):
    with pytest.raises(PlotError, match="there is no 'top5' to draw, but accuracy, loss, lr"):
        main([log, "--y", "top5"])
