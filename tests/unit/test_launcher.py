import subprocess
import sys

import pytest

from pycaffe_dist.parallel.launcher import VARIABLES, rank_and_size


@pytest.mark.parametrize(("rank", "size"), VARIABLES)
def test_variables_of_the_launchers(monkeypatch, rank, size):
    for name in [name for pair in VARIABLES for name in pair]:
        monkeypatch.delenv(name, raising=False)
    assert rank_and_size() == (0, 1)
    monkeypatch.setenv(rank, "2")
    assert rank_and_size() == (0, 1)
    monkeypatch.setenv(size, "4")
    assert rank_and_size() == (2, 4)


def test_training_on_several_ranks_is_refused_by_name(tmp_path, monkeypatch):
    rank, size = VARIABLES[0]
    monkeypatch.setenv(rank, "0")
    monkeypatch.setenv(size, "2")
    command = [sys.executable, "-m", "pycaffe_dist", "train", "-solver", "none.prototxt"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert run.returncode == 1
    assert "2 ranks were started" in run.stderr
