import subprocess
import sys

import pytest

from pycaffe_dist.testing.faults import KINDS, PHASES, Fault, happened, planted


@pytest.fixture
def rank_1_of_3(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")


def test_a_schedule():
    assert Fault.parse("stop=2.5:1:7:exchange:4") == Fault("stop", "2.5", "1", 7, "exchange", 4)
    assert Fault.parse("kill:all:*:1.5s").step is None
    for wrong in ("kil:1:7:exchange", "kill:1:7:later"):
        with pytest.raises(ValueError, match="kinds are"):
            Fault.parse(wrong)


@pytest.mark.parametrize(
    ("who", "due"), [("1", True), ("0", False), ("all", True), ("mpirun", False), ("daemon", False)]
)
def test_who_does_it(rank_1_of_3, who, due):
    fault = Fault.parse(f"kill:{who}:7:test")
    assert fault.due("test", 7) is due
    assert not fault.due("test", 6)
    assert not fault.due("load", 7)


def test_ranks_have_the_fault_once_and_others_never(tmp_path, rank_1_of_3, monkeypatch):
    for name, value in planted(tmp_path, "exit=5:1:*:start").items():
        monkeypatch.setenv(name, value)
    python = [sys.executable, "-c", ""]
    assert [subprocess.run(python, timeout=150).returncode for _ in range(2)] == [5, 0]
    (row,) = happened(tmp_path)
    assert (row["rank"], row["iteration"]) == (1, 0)
    monkeypatch.delenv("OMPI_COMM_WORLD_RANK")
    (tmp_path / "faults.jsonl").unlink()
    assert subprocess.run(python, timeout=150).returncode == 0
    assert happened(tmp_path) == []


def test_all_that_is_promised_is_there():
    assert {"kill", "segv", "stop", "exit", "raise", "memory", "nan", "diverge"} <= set(KINDS)
    assert {"start", "compute", "exchange", "rename", "load", "test", "end"} <= set(PHASES)
