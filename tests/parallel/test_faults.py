"""Faults at chosen moments, a few of scripts/faults.py: what is said, left, and gone on from."""

import json
import re
import signal
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")

from runs import ENDLESS, ENV, LONG, TRAIN, Run, processes, states, wait_for, write

from pycaffe_dist.testing.faults import happened, planted

GONE_SECONDS = 60
DENSE = ["--comm", "dense"]  # a measured plan may differ in rounding


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder and the log of a run that nothing disturbs."""
    folder = write(tmp_path_factory.mktemp("undisturbed"))
    return folder, Run(folder, *TRAIN, "--ranks", "2", *DENSE).end(0)


@pytest.fixture(scope="module")
def weights(undisturbed):
    return last_weights(undisturbed[0])


def last_weights(folder):
    return (folder / "run_iter_20.caffemodel").read_bytes()


def faulty(folder, faults, *args):
    """A run with these faults, whose temporary files are below its folder."""
    (folder / "tmp").mkdir(exist_ok=True)
    env = ENV | {"TMPDIR": str(folder / "tmp")} | planted(folder, *faults)
    return Run(folder, *args, env=env)


def leftovers(folder):
    return [*folder.glob(".*.tmp"), *(folder / "tmp").iterdir()]


def test_mpirun_has_nothing_to_say_of_a_good_end(undisturbed):
    assert undisturbed[1].splitlines()[-1].endswith("] Optimization Done.")


@pytest.mark.parametrize(
    "faults",
    [["kill:1:13:exchange", "segv:0:*:load"], ["exit:0:15:rename"]],
    ids=["and-in-the-recovery", "between-fsync-and-rename"],
)
def test_a_supervised_run_ends_with_the_weights_of_an_undisturbed_one(folder, weights, faults):
    launch = ["launch", "--ranks", "2", "--", *TRAIN, *DENSE]
    log = faulty(folder, faults, *launch).end(0, 120)
    assert len(happened(folder)) == log.count("The job failed: ") == len(faults)
    assert "Restarting from " in log
    assert "Traceback" not in log
    assert last_weights(folder) == weights
    assert leftovers(folder) == []


def test_a_killed_supervisor_takes_all_with_it_and_the_next_goes_on(folder, weights):
    launch = ["launch", "--ranks", "2", "--", *TRAIN, *DENSE]
    faulty(folder, ["kill:supervisor:15:compute"], *launch).end(-signal.SIGKILL)
    assert wait_for(lambda: not processes(folder), GONE_SECONDS)
    log = faulty(folder, [], *TRAIN, "--ranks", "2", "--resume", "auto", *DENSE).end(0)
    assert re.search(r"Resuming from run_iter_\d+\.solverstate", log)
    assert last_weights(folder) == weights
    assert leftovers(folder) == []


def test_clocks_may_differ(folder, weights):
    args = ["--ranks", "2", "--stall-timeout", "60", "--trace", "trace.json", *DENSE]
    faulty(folder, ["skew=86400:1:*:start"], *TRAIN, *args).end(0)
    assert len(happened(folder)) == 1
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    begins = [event["ts"] for event in events if event["pid"] == 1 and "ts" in event]
    assert begins
    assert max(begins) < 3600e6
    assert last_weights(folder) == weights


def test_a_rank_that_leaves_before_mpi_starts_is_named(folder):
    """mpirun says nothing of it, if no rank has called MPI_Init by then."""
    faults = ["stop=2:0:*:start", "exit:1:*:start"]
    log = faulty(folder, faults, *TRAIN, "--ranks", "2", "--stall-timeout", "1").end(124)
    waited = re.search(
        r"rank 1 did not answer for (\d+) s, in the exchange of the start of MPI", log
    )
    assert waited and int(waited[1]) >= 5  # five times what a rank may take later
    assert leftovers(folder) == []


def test_a_rank_that_leaves_while_others_start_mpi_is_named(folder):
    faults = ["stop=4:1:*:start", "exit:1:*:start"]
    log = faulty(folder, faults, *TRAIN, "--ranks", "2").end(1)
    assert re.search(r"rank 1 on \S+ exited without calling MPI_Finalize", log)
    assert "improperly" not in log
    assert leftovers(folder) == []


@pytest.mark.parametrize(
    ("fault", "args", "says", "at"),
    [
        ("memory:1:5:compute", [], r"rank 1 on \S+: out of memory\. Try a smaller batch_size", 5),
        ("nan:1:5:batch", [], r'the loss of rank 1 on \S+ is nan; first seen in layer "x"', 5),
        (
            "nan-gradient:1:9:backward",
            DENSE,
            r"iteration 10: parameter 0 of layer \"ip\" is NaN or infinite",
            10,
        ),
        (
            "diverge:1:5:gathered",
            ["--check-every", "8"],
            r"rank 1 on \S+ differs from rank 0 in parameter 1 of layer \"ip\" at iteration 8",
            8,
        ),
    ],
    ids=["memory", "nan", "nan-gradient", "diverge"],
)
def test_what_is_wrong_is_said_in_a_line_and_nothing_bad_is_written(folder, fault, args, says, at):
    log = faulty(folder, [fault], *TRAIN, "--ranks", "2", *args).end(1)
    (line,) = re.findall(r"^pcd train: .*", log, re.M)
    assert re.search(says, line)
    found = re.search(
        r"The job failed: rank \d on \S+ gave up with exit code 1 after iteration (\d+)$", log, re.M
    )
    assert found
    assert int(found[1]) == at
    assert "Traceback" not in log
    assert states(folder) == []
    assert leftovers(folder) == []


@pytest.mark.parametrize("ranks", [[], ["--ranks", "2"]], ids=["alone", "ranks"])
def test_a_log_that_nobody_reads_any_more_ends_a_run(folder, ranks):
    write(folder, ENDLESS, ENDLESS)
    command = [sys.executable, "-m", "pycaffe_dist", *TRAIN, *ranks]
    run = subprocess.Popen(command, cwd=folder, env=ENV, stderr=subprocess.PIPE)
    assert run.stderr.readline()
    run.stderr.close()
    assert run.wait(LONG) == 128 + signal.SIGPIPE
