"""Snapshots for a launcher's next attempt."""

import os
import shutil
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from pycaffe_dist.events import Snapshotting, Updated
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.memory import STEM
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.tools.memory_snapshots import MemorySnapshots, newer_in_memory

SOLVER = """
base_lr: 0.05 lr_policy: "fixed" max_iter: 7 random_seed: 1 snapshot_after_train: false
net_param {
layer { name: "x" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 4 } shape { dim: 2 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 3 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" } }
"""


@pytest.fixture
def solver(tmp_path):
    param = parse_text(SOLVER, SolverParameter()).message
    param.snapshot_prefix = str(tmp_path / "on disk")
    return Solver(param)


@pytest.fixture
def said(monkeypatch):
    words = []
    monkeypatch.setattr(lifeline, "say", lambda *word: words.append(word))
    return words


def test_a_snapshot_now_and_then_of_which_two_are_kept(solver, tmp_path, said):
    folder, told = tmp_path / "memory", []
    with MemorySnapshots(solver, str(folder), 2) as memory:
        solver.subscribers += [memory, told.append]
        solver.solve()
    assert said == [(lifeline.KEPT, 2), (lifeline.KEPT, 4), (lifeline.KEPT, 6)]
    assert folder.stat().st_mode & 0o777 == 0o700
    kept = snapshots.find(str(folder / STEM))
    assert [found.iteration for found in kept] == [4, 6]
    stem = str(folder / STEM)
    assert [(e.iteration, e.what) for e in told if isinstance(e, Snapshotting)] == [
        *((2, "memory"), (4, "memory"), (6, "memory"))
    ]
    assert snapshots.newest_whole(stem).state == f"{stem}_iter_6.solverstate"


def test_a_rank_that_is_not_the_first_writes_nothing(tmp_path, monkeypatch):
    @contextmanager
    def nothing(solver):
        yield None

    settled = []
    monkeypatch.setattr(snapshots, "captured", nothing)
    ranks = SimpleNamespace(rank=1)
    other = SimpleNamespace(ranks=ranks, settle=lambda: settled.append(1))  # it tells nothing
    memory = MemorySnapshots(other, str(tmp_path / "memory"), 3)
    for iteration in (1, 2, 3, 4):
        memory(Updated(iteration, 0.0, 0.1))
    assert settled == [1] and not (tmp_path / "memory").exists()


@pytest.mark.parametrize(
    ("folder", "every", "wanted"), [("m", "5", True), ("m", "0", False), ("", "5", False)]
)
def test_what_a_launcher_wants(solver, tmp_path, monkeypatch, folder, every, wanted):
    path = str(tmp_path / folder) if folder else ""
    monkeypatch.setenv(lifeline.MEMORY_FOLDER, path)
    monkeypatch.setenv(lifeline.MEMORY_EVERY, every)
    found = MemorySnapshots.asked_for(solver)
    assert (found is not None) == wanted
    if found:
        assert found.every == 5 and found._prefix == os.path.join(path, STEM)
        assert MemorySnapshots.asked_for(solver)  # the folder of an attempt before is there
    monkeypatch.delenv(lifeline.MEMORY_EVERY)
    assert MemorySnapshots.asked_for(solver) is None


def test_the_newer_of_disk_and_memory_is_taken(solver, tmp_path, monkeypatch):
    folder = tmp_path / "memory"
    states = {}
    folder.mkdir()
    for iteration in (3, 5, 6):
        solver.step(iteration - solver.iter)
        stem = folder / STEM if iteration == 5 else tmp_path / "disk"
        with snapshots.captured(solver) as capture:
            capture.write(f"{stem}_iter_{iteration}")
        states[iteration] = f"{stem}_iter_{iteration}.solverstate"
    assert newer_in_memory(states[3]) == states[3]  # nobody names a folder
    monkeypatch.setenv(lifeline.MEMORY_FOLDER, str(folder))
    assert newer_in_memory(states[3]) == newer_in_memory(None) == states[5]
    assert newer_in_memory(states[6]) == states[6]
    same = shutil.copy(states[5], tmp_path / "same_iter_5.solverstate")
    assert newer_in_memory(same) == same
    monkeypatch.setenv(lifeline.MEMORY_FOLDER, str(tmp_path / "none"))
    assert newer_in_memory(states[3]) == states[3] and newer_in_memory(None) is None
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(lifeline.MEMORY_FOLDER, str(tmp_path / "empty"))
    assert newer_in_memory(states[3]) == states[3]
