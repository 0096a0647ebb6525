"""Runs that lose ranks and go on from memory: real mpirun, real kills."""

import os
import re
import signal
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from runs import ENV, Run, processes, wait_for

from pycaffe_dist.parallel.job.memory import FOLDER, root
from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, find_mpirun
from pycaffe_dist.proto.weights import read_weights
from pycaffe_dist.testing.faults import planted

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from bench.netlab import Lab, why_not

NET = """
layer { name: "x" type: "HDF5Data" top: "data" top: "label"
  hdf5_data_param { source: "list.txt" batch_size: 4 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" momentum: 0.9 max_iter: 30 display: 5
snapshot_prefix: "run" random_seed: 3 solver_mode: CPU
"""
TRAIN = ["--", "train", "--solver", "solver.prototxt", "--comm", "sharded"]
MEMORY = ["--memory-snapshot", "5"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["data"] = rng.standard_normal((50, 6)).astype(np.float32)
        file["label"] = rng.integers(0, 3, 50).astype(np.float32)
    (tmp_path / "list.txt").write_text("data.h5\n")
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    return tmp_path


def launch(folder, *args, faults=()):
    env = ENV | planted(folder, *faults)
    return Run(folder, "launch", *args, env=env)


def weights(folder):
    layers = read_weights(str(folder / "run_iter_30.caffemodel")).layers
    return np.concatenate([np.ravel(blob.data) for layer in layers for blob in layer.blobs])


def undisturbed(folder):
    launch(folder, "--ranks", "3", *TRAIN).end(0)
    found = weights(folder)
    for path in folder.glob("run_iter*"):
        path.unlink()
    return found


def left(run):
    """Folders of a launcher's memory that are still there."""
    return list(root().glob(f"{FOLDER}{run.process.pid}-*"))


def resumed(log):
    return [int(n) for n in re.findall(r"Resuming from \S+/memory_iter_(\d+)\.solverstate", log)]


@pytest.mark.timeout(300)
def test_a_lost_rank_costs_the_iterations_since_the_last_snapshot_in_memory(folder):
    expected = undisturbed(folder)
    faults = ["kill:1:13:exchange", "kill:0:22:compute"]
    run = launch(folder, "--ranks", "3", *MEMORY, *TRAIN, faults=faults)
    log = run.end(0)
    # A thread writes them: when a rank is killed the newest may not be whole, the one before is.
    first, second = resumed(log)
    assert first in (5, 10)
    assert second in (15, 20)
    assert log.count("3 restarts left") == 2  # an attempt that got further is not counted
    assert (weights(folder) == expected).all()
    assert not left(run)


@pytest.mark.timeout(300)
def test_a_snapshot_in_memory_without_its_third_file_is_not_resumed_from(folder):
    """It has no data position: the run would end with other weights."""
    expected = undisturbed(folder)
    faults = ["kill:0:15:two-files"]
    run = launch(folder, "--ranks", "3", *MEMORY, *TRAIN, faults=faults)
    log = run.end(0)
    assert (weights(folder) == expected).all()
    passed_over = re.findall(r"memory_iter_(\d+)\.pcdstate: is not there", log)
    assert resumed(log) == [int(n) - 5 for n in passed_over]
    assert not left(run)


@pytest.mark.timeout(300)
def test_fewer_ranks_go_on_with_the_same_joint_batch_and_others_join_again(folder):
    expected = undisturbed(folder)
    elastic = ["--elastic", "2:3", "--join-after", "0", *MEMORY]
    # Two ranks wait in iteration 18: they would be at the end before a launcher looks at them.
    faults = ["kill:2:*:begin:2", "hang:0:18:compute", "kill:2:18:compute"]
    run = launch(folder, *elastic, *TRAIN, faults=faults)
    log = run.end(0)
    assert "Continuing with 2 of 3 ranks" in log
    assert "Effective batch: 12 = 2 ranks x batch 6 x iter_size 1" in log
    assert "Ranks join at iteration" in log
    assert max(resumed(log)) >= 15
    assert log.count("Effective batch: 12 = 3 ranks x batch 4 x iter_size 1") >= 3
    np.testing.assert_allclose(weights(folder), expected, rtol=1e-5, atol=1e-6)
    assert not left(run)


@pytest.mark.timeout(300)
def test_what_a_killed_launcher_has_left_is_resumed_by_the_next_one(folder):
    expected = undisturbed(folder)
    first = launch(folder, "--ranks", "3", *MEMORY, *TRAIN, faults=["hang:1:18:compute"])
    assert wait_for(lambda: left(first) and list(left(first)[0].glob("*_iter_15.pcdstate")), 120)
    (memory,) = left(first)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    assert wait_for(lambda: not processes(folder), 60)
    log = launch(folder, "--ranks", "3", *MEMORY, *TRAIN, "--resume", "auto").end(0)
    assert resumed(log) == [15]
    assert (weights(folder) == expected).all()
    assert not memory.exists()


@pytest.mark.timeout(300)
def test_snapshots_that_are_written_beside_training_survive_a_kill(folder):
    expected = undisturbed(folder)
    args = ["--ranks", "3", *TRAIN, "--snapshot-async", "--set", "snapshot=5"]
    log = launch(folder, *args, faults=["kill:0:11:exchange"]).end(0)
    assert "Restarting from" in log
    assert (weights(folder) == expected).all()


@pytest.mark.timeout(300)
def test_a_host_that_is_lost_is_left_out_and_joins_when_it_answers(folder):
    refused = why_not()
    if refused:
        pytest.skip(f"no network lab here: {refused}")
    if find_mpirun().kind != OPEN_MPI:
        pytest.skip("the lab starts ranks by Open MPI's mpirun")
    with Lab(2, "1gbit") as lab:
        (folder / "hosts").write_text("".join(f"{node} slots=1\n" for node in lab.nodes))
        elastic = ["--elastic", "1:2", "--hostfile", "hosts", "--join-after", "0", *MEMORY]
        args = ["launch", *elastic, *TRAIN, "--set", "max_iter=1000000"]
        env = ENV | planted(folder, "kill:daemon:18:exchange") | lab.variables()
        path = folder / "log"
        with path.open("w") as log:
            command = [sys.executable, "-m", "pycaffe_dist", *args]
            run = lab.popen(lab.nodes[0], command, env, cwd=str(folder), stdout=log, stderr=log)
            # However long the other host takes to answer: both train again before the run ends.
            both = wait_for(lambda: len(resumed(path.read_text())) > 1, 200)
            run.send_signal(signal.SIGINT)
            code = run.wait(60)
    text = path.read_text()
    assert both and code == 0, text[-3000:]
    assert f"no answer any more from {lab.nodes[1]}" in text
    assert "Continuing with 1 of 2 ranks" in text
    assert "Ranks join at iteration" in text
    assert resumed(text)[0] >= 10


def test_a_batch_that_cannot_be_divided_is_told(folder):
    command = [sys.executable, "-m", "pycaffe_dist", "train", "--solver", "solver.prototxt"]
    run = Run(folder, command=[*command, "--as-ranks", "3", "--ranks", "5"])
    assert "the joint batch 12 of 3 ranks cannot be divided among 5" in run.end(1)
