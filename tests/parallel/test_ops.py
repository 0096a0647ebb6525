"""Several ranks from start to end, as people run them: real mpirun, real signals, real kills."""

import json
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mpi4py")

from runs import (
    ENDLESS,
    ENV,
    LONG,
    TRAIN,
    Run,
    kill_rank,
    processes,
    states,
    train,
    wait_for,
    write,
)

from pycaffe_dist.parallel.job.mpirun import OPEN_MPI, environment, find_mpirun
from pycaffe_dist.proto.weights import read_weights

# A forward pass that goes on while there is a file "hold", and tells when its rank is to stop.
HELD = """while os.path.exists("hold"):
            open(f"held{rank}", "w").close()
            if signal.getsignal(signal.SIGUSR2).__self__.received:
                open("told", "w").close()
            time.sleep(0.1)"""


def test_ranks_train_and_rank_0_speaks_for_all(folder):
    args = ["--trace", "t.json", "--stats_path", "s.yaml", "--net_outputs", "out"]
    log = train(folder, "--ranks", "2", *args, "--comm", "dense").end(0)
    assert log.count("Iteration 10, lr") == 1
    assert "2 ranks: cluster of 1 node(s), ranks by node" in log
    assert "Effective batch: 16 = 2 ranks x batch 8 x iter_size 1" in log
    assert re.search(r"Iteration 15, compute [\d.]+ s, exposed communication [\d.]+ s", log)
    assert states(folder) == ["run_iter_10.solverstate", "run_iter_20.solverstate"]
    assert (folder / "stdout.txt").read_text() == ""

    rows = [json.loads(line) for line in (folder / "run.metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows if row["kind"] == "snapshot"] == [10, 20]

    events = json.loads((folder / "t.json").read_text())["traceEvents"]
    for rank in range(2):
        mine = [e for e in events if e["pid"] == rank and e["ph"] == "X"]
        assert {"compute", "exchange"} <= {e["cat"] for e in mine}
        assert sum(e["name"] == "ip backward" for e in mine) == 20
        exchanges = [e for e in mine if e["name"] == "ip" and e["cat"] == "exchange"]
        assert len(exchanges) == 20
        assert all(e["args"]["scheme"] in ("allreduce", "sharded") for e in exchanges)

    stats = (folder / "s.yaml").read_text()
    assert re.search(r"^iterations: 20\nbatch: 16$", stats, re.M)
    assert stats.count("blocked_seconds: ") == 2
    assert re.search(r"^  ip:\n    (allreduce|sharded):\n      exchanges: 20$", stats, re.M)
    table = (folder / "out.netoutputs").read_text().splitlines()
    assert table[0] == "Iteration,time,loss,loss[1]"
    assert [line.split(",")[0] for line in table[1:]] == ["0", "5", "10", "15"]


def test_a_killed_rank_ends_all_and_a_supervised_job_goes_on(folder):
    # The first time nobody comes to the end before the kill.
    held = "while self.count > 150 and not os.path.exists('killed'): time.sleep(0.05)"
    write(folder, steps=400, every=100, fault=held)
    run = Run(folder, "launch", "--max-restarts", "2", "--ranks", "3", "--", *TRAIN)
    run.until("Snapshotting solver state to binary proto file run_iter_100")
    before = set(processes(folder))
    kill_rank(folder, 1, signal.SIGKILL)
    (folder / "killed").touch()
    assert wait_for(lambda: not before & set(processes(folder)), LONG)
    log = run.end(0, 120)
    assert "The job failed: " in log
    first, second = log.split("The job failed: ")
    assert re.match(r"rank 1 on \S+ was killed by SIGKILL after iteration \d+; 2 restarts", second)
    assert "prterun" not in log
    assert re.search(r"Restarting from .*run_iter_\d+\.solverstate", second)
    newest = max(map(int, re.findall(r"solver state to .*run_iter_(\d+)", first)))
    assert f"Resuming from {folder}/run_iter_{newest}.solverstate" in second
    assert "run_iter_400.solverstate" in states(folder)


def test_a_stopped_rank_is_named_and_ends_all(folder):
    write(folder, ENDLESS, ENDLESS)
    run = train(folder, "--ranks", "3", "--stall-timeout", "5").until("Iteration 20,")
    kill_rank(folder, 1, signal.SIGSTOP)
    log = run.end(124)
    assert re.search(r"rank 1 on \S+ did not answer for \d+ s, in the exchange of \w+ \(", log)


def test_a_throwing_rank_is_named_and_ends_all(folder):
    body = "if rank == 1 and self.count == 5: raise RuntimeError('out of luck')"
    write(folder, ENDLESS, ENDLESS, body)
    log = train(folder, "--ranks", "2").end(1)
    assert "rank 1 on " in log
    assert "RuntimeError: out of luck" in log


def test_a_rank_that_leaves_in_the_middle_is_a_failure_whatever_its_code(folder):
    write(folder, ENDLESS, ENDLESS, "if rank == 1 and self.count == 5: os._exit(0)")
    log = train(folder, "--ranks", "2").end(1)
    assert "Optimization Done." not in log


@pytest.mark.parametrize(
    ("to", "number", "code"),
    [
        ("launcher", signal.SIGINT, 0),
        ("launcher", signal.SIGTERM, 143),
        ("rank 1", signal.SIGTERM, 143),
    ],
    ids=["INT", "TERM", "one-rank"],
)
def test_a_signal_ends_all_with_one_snapshot(folder, to, number, code):
    write(folder, ENDLESS, ENDLESS)
    run = train(folder, "--ranks", "2").until("Iteration 20,")
    if to == "launcher":
        run.process.send_signal(number)
    else:
        kill_rank(folder, 1, number)
    log = run.end(code)
    assert "Optimization stopped early." in log
    assert len(states(folder)) == 1
    assert len(list(folder.glob("run_iter_*"))) == 3


def test_mpirun_alone_hands_on_a_signal_that_stops(folder, monkeypatch):
    write(folder, ENDLESS, ENDLESS)
    monkeypatch.chdir(folder)
    mpirun = find_mpirun()
    command = mpirun.command(2, [sys.executable, "-m", "pycaffe_dist", *TRAIN])
    run = Run(folder, command=command, env=environment(2, ENV)).until("Iteration 20,")
    run.process.send_signal(mpirun.stop)
    log = run.end(0 if mpirun.kind == OPEN_MPI else 143)
    assert "Optimization stopped early." in log
    assert len(states(folder)) == 1


def test_a_loss_that_is_no_number_on_one_rank_stops_all_in_one_iteration(folder):
    body = "if rank == 1 and self.count == 7: bottom[0].data[...] = float('nan')"
    write(folder, ENDLESS, ENDLESS, body)
    log = train(folder, "--ranks", "2", "--on-nan", "snapshot").end(1)
    assert re.search(r'iteration 6: the loss of rank 1 on \S+ is nan; first seen in layer "x"', log)
    assert states(folder) == ["run_iter_6.solverstate"]
    stored = read_weights(str(folder / "run_iter_6.caffemodel"))
    assert all(np.isfinite(blob.data).all() for layer in stored.layers for blob in layer.blobs)


def test_hup_makes_a_snapshot_and_goes_on_and_a_second_int_ends_at_once(folder):
    write(folder, ENDLESS, ENDLESS, HELD)
    run = train(folder, "--ranks", "2").until("Iteration 0,")
    run.process.send_signal(signal.SIGHUP)
    run.until("Snapshotting solver state")
    assert not run.over
    (folder / "hold").touch()  # an iteration that does not end, and so no stop in good order
    assert wait_for(lambda: (folder / "held0").exists(), LONG)
    run.process.send_signal(signal.SIGINT)
    assert wait_for(lambda: (folder / "told").exists(), LONG)  # two at once would count as one
    run.process.send_signal(signal.SIGINT)
    run.end(130)


def test_ranks_do_not_outlive_mpirun(folder):
    write(folder, ENDLESS, ENDLESS)
    run = train(folder, "--ranks", "2").until("Iteration 20,")
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text()
    os.kill(int(children), signal.SIGKILL)
    run.end(137)


def test_ranks_that_were_told_different_things_do_not_begin(folder, monkeypatch):
    monkeypatch.chdir(folder)
    rank = [sys.executable, "-m", "pycaffe_dist", *TRAIN]
    command = find_mpirun().command(1, rank)
    command += [":", "-n", "1", *rank, "--set", "base_lr=0.5"]
    run = Run(folder, command=command, env=environment(2, ENV))
    assert wait_for(lambda: run.over, LONG)
    assert run.process.returncode != 0
    words = "differs from rank 0 in base_lr of the solver: 0.5, rank 0 has 0.01"
    assert words in run.log.read_text()
    assert states(folder) == []


def test_ranks_by_a_hostfile_of_pmls_caffe(folder):
    (folder / "hosts").write_text("0 127.0.0.1 9999\n1 127.0.0.1 9998\n")
    log = train(folder, "--hostfile", "hosts").end(0)
    assert "Effective batch: 16 = 2 ranks" in log


def test_what_is_wrong_with_a_file_is_said_once(folder):
    (folder / "net.prototxt").unlink()
    log = train(folder, "--ranks", "3").end(1)
    assert log.count('"net.prototxt" is not there') == 1


def test_a_fault_that_always_returns_is_given_up_with_its_reason(folder):
    write(folder, ENDLESS, 2, "if self.count == 4: os.kill(os.getpid(), signal.SIGKILL)")
    args = ["launch", "--max-restarts", "1", "--", *TRAIN]
    log = Run(folder, *args).end(137)
    assert "Given up after 1 restarts; the last failure: killed by SIGKILL after iteration" in log


def test_a_job_that_cannot_begin_is_not_started_again(folder):
    (folder / "net.prototxt").unlink()
    args = ["launch", "--max-restarts", "5", "--", *TRAIN]
    log = Run(folder, *args).end(1)
    assert log.count('"net.prototxt" is not there') == 1
    assert "starting it again is no help" in log


def test_a_job_without_a_sign_of_life_is_started_again(folder):
    once = "if self.count == 4 and not os.path.exists('stopped'): "
    once += "open('stopped', 'w').close(); os.kill(os.getpid(), signal.SIGSTOP)"
    write(folder, 20, 2, once)
    args = ["--heartbeat-timeout", "2", "--", *TRAIN]
    log = Run(folder, "launch", *args).end(0)
    assert re.search(r"no sign of life for \d+ s after iteration \d+; 3 restarts left", log)
    assert "run_iter_20.solverstate" in states(folder)
