"""Ranks that are threads share a process: what communication threads do to it is left out."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycaffe_dist.parallel.transport import comm_thread
from pycaffe_dist.testing.mpi_ranks import MpiRanks

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
def mpi_ranks() -> Iterator[MpiRanks]:
    """Up to four ranks, which are processes; started by the first test that has work for them."""
    with MpiRanks(4) as ranks:
        yield ranks
