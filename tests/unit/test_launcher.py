import subprocess
import sys

import pytest

from pycaffe_dist.parallel.job.launcher import LOCAL, VARIABLES, launched, local_rank, rank_and_size


@pytest.mark.parametrize(("rank", "size"), VARIABLES)
def test_variables_of_the_launchers(monkeypatch, rank, size):
    for name in [name for pair in VARIABLES for name in pair]:
        monkeypatch.delenv(name, raising=False)
    assert rank_and_size() == (0, 1)
    monkeypatch.setenv(rank, "2")
    assert rank_and_size() == (0, 1)
    monkeypatch.setenv(size, "4")
    assert rank_and_size() == (2, 4)


def test_local_ranks(monkeypatch):
    for name in (*LOCAL, *(name for pair in VARIABLES for name in pair)):
        monkeypatch.delenv(name, raising=False)
    assert (local_rank(), launched()) == (0, False)
    monkeypatch.setenv("PMI_RANK", "5")
    monkeypatch.setenv("PMI_SIZE", "8")
    assert (local_rank(), launched()) == (5, True)
    monkeypatch.setenv("MPI_LOCALRANKID", "1")
    assert local_rank() == 1


def test_an_mpirun_of_another_mpi_is_found_out(tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    # What such an mpirun leaves: its own variables, of which the library knows nothing.
    rank, size = VARIABLES[0]
    monkeypatch.setenv(rank, "0")
    monkeypatch.setenv(size, "2")
    command = [sys.executable, "-m", "pycaffe_dist", "train", "-solver", "none.prototxt"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=150)
    assert run.returncode == 1
    assert "mpirun started 2 ranks, but the MPI library of mpi4py knows of 1" in run.stderr


def test_a_child_does_not_outlive_its_parent():
    child = "from pycaffe_dist.parallel.job.launcher import die_with_parent as d; import time;"
    child += "d(); print('ready', flush=True); time.sleep(600)"
    parent = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {child!r}]);"
    parent += "p.wait()"
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.wait()
    assert process.stdout.read() == ""  # ends when the last who holds it is gone
    process.stdout.close()
