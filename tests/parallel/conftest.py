"""Ranks that are threads share a process: what communication threads do to it is left out."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pycaffe_dist.parallel.job.mpirun import environment, find_mpirun
from pycaffe_dist.parallel.transport import comm_thread

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from runs import processes, wait_for, write  # noqa: E402


@pytest.fixture(autouse=True)
def keep_priorities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comm_thread, "go_before", lambda thread: None)


@pytest.fixture
def folder(tmp_path):
    yield write(tmp_path)
    gone = wait_for(lambda: not processes(tmp_path), 60)
    for pid in processes(tmp_path):
        os.kill(pid, signal.SIGKILL)
    assert gone, "processes are left behind"


@pytest.fixture(scope="session")
def mpirun() -> Callable[..., str]:
    """Run a script of this folder on so many ranks of one thread each; what it printed."""
    launcher = find_mpirun()

    def run(ranks: int, script: str, *arguments: str, seconds: float = 300) -> str:
        program = [sys.executable, str(HERE / script), *arguments]
        env = environment(ranks, os.environ) | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            launcher.command(ranks, program),
            env=env,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
