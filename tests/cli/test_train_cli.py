"""`pcd train`, `test`, `time` as people run them: real processes, real signals, real files."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import warm

from pycaffe_dist.proto.weights import read_weights

NET = """
name: "pairs"
layer { name: "x" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 8 dim: 6 } shape { dim: 8 }
    data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy"
  include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 20 display: 5
test_iter: 2 test_interval: 10 snapshot: 10 snapshot_prefix: "run" random_seed: 3 solver_mode: CPU
"""
ENV = {k: v for k, v in os.environ.items() if not k.startswith("GLOG")}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    return tmp_path


def pcd(folder, *args, code=0):
    run = warm.pcd(*args, cwd=folder, env=ENV)
    assert run.returncode == code, run.stderr[-2000:]
    assert "Traceback" not in run.stderr
    return run


def test_a_run_writes_caffes_lines_and_files(folder):
    log = pcd(folder, "train", "-solver", "solver.prototxt").stderr
    prefix = r"^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ "
    shapes = [
        r"caffe\.cpp:\d+\] Use CPU\.$",
        r"solver\.cpp:\d+\] Solving pairs$",
        r"solver\.cpp:\d+\] Learning Rate Policy: fixed$",
        r"solver\.cpp:\d+\] Iteration 0, Testing net \(#0\)$",
        r"solver\.cpp:\d+\]     Test net output #0: accuracy = [\d.]+$",
        r"solver\.cpp:\d+\]     Test net output #1: loss = [\d.]+ \(\* 1 = [\d.]+ loss\)$",
        r"solver\.cpp:\d+\] Iteration 5 \([\d.e+]+ iter/s, [\d.e-]+s/5 iters\), loss = [\d.e-]+$",
        r"solver\.cpp:\d+\]     Train net output #0: loss = [\d.e-]+ \(\* 1 = [\d.e-]+ loss\)$",
        r"sgd_solver\.cpp:\d+\] Iteration 5, lr = 0\.1$",
        r"solver\.cpp:\d+\] Snapshotting to binary proto file run_iter_10\.caffemodel$",
        r"sgd_solver\.cpp:\d+\] Snapshotting solver state to binary proto file "
        r"run_iter_10\.solverstate$",
        r"solver\.cpp:\d+\] Iteration 20, loss = [\d.e-]+$",
        r"solver\.cpp:\d+\] Optimization Done\.$",
    ]
    position = 0
    for shape in shapes:
        match = re.compile(prefix + shape, re.M).search(log, position)
        assert match, shape
        position = match.end()
    assert {p.name for p in folder.glob("run_iter_20.*")} == {
        "run_iter_20.caffemodel",
        "run_iter_20.solverstate",
        "run_iter_20.pcdstate",
    }
    rows = [json.loads(line) for line in (folder / "run.metrics.jsonl").read_text().splitlines()]
    assert {"train", "test", "snapshot", "end"} <= {row["kind"] for row in rows}


@pytest.mark.parametrize(
    "spelling",
    [["-solver", "F"], ["--solver", "F"], ["-solver=F"], ["--solver=F"]],
    ids=lambda spelling: " ".join(spelling),
)
def test_gflags_spellings(folder, spelling):
    args = [a.replace("F", "solver.prototxt") for a in spelling]
    pcd(folder, "train", *args, "-max_iter=2", "-q")


def test_a_quiet_run_has_its_whole_log_in_its_folder(folder):
    done = pcd(folder, "train", "-solver", "solver.prototxt", "--run-dir", "run", "-q")
    assert "Iteration" not in done.stderr
    assert "Iteration 10" in (folder / "run/train.log").read_text()
    pcd(folder, "plot", "run", "-o", "chart.png")
    assert (folder / "chart.png").is_file()


def weights(path):
    layers = read_weights(path).layers
    return np.concatenate([b.data.ravel() for layer in layers for b in layer.blobs])


def test_resuming_is_exact(folder):
    pcd(folder, "train", "-solver", "solver.prototxt", "-q")
    whole = weights(folder / "run_iter_20.caffemodel")
    for file in folder.glob("run_iter_20.*"):
        file.unlink()
    pcd(folder, "train", "-solver", "solver.prototxt", "-resume", "auto", "-q")
    np.testing.assert_array_equal(weights(folder / "run_iter_20.caffemodel"), whole)


def test_resume_auto_begins_where_nothing_is(folder):
    log = pcd(folder, "train", "-solver", "solver.prototxt", "--resume", "auto").stderr
    assert "No snapshot of run yet: from the start" in log
    assert (folder / "run_iter_20.caffemodel").exists()


def test_resume_auto_begins_from_weights_and_then_goes_on(folder):
    pcd(folder, "train", "-solver", "solver.prototxt", "-q", "-max_iter", "2")
    args = ["train", "-solver", "solver.prototxt", "-weights", "run_iter_2.caffemodel"]
    args += ["--resume", "auto", "--set", "snapshot_prefix=tuned"]
    assert "Finetuning from run_iter_2.caffemodel" in pcd(folder, *args, "-max_iter", "5").stderr
    second = pcd(folder, *args, "-max_iter", "8").stderr
    assert "Resuming from tuned_iter_5.solverstate" in second
    assert "Finetuning" not in second


def test_settings_from_the_command_line(folder):
    log = pcd(
        folder,
        *("train", "-solver", "solver.prototxt", "--set", "base_lr=0.05", "--set", "type=Adam"),
        *("--set-net", "ip.num_output=4", "-max_iter", "3", "--run-dir", "out"),
    ).stderr
    assert "lr = 0.05" in log
    assert 'type: "Adam"' in (folder / "out" / "solver.prototxt").read_text()
    assert weights(folder / "out" / "run_iter_3.caffemodel").size == 4 * 6 + 4
    made = {p.name for p in (folder / "out").iterdir()}
    assert {"solver.prototxt", "net.prototxt", "command.txt", "info.json", "train.log"} <= made


def test_dry_run_leaves_nothing(folder):
    before = sorted(folder.iterdir())
    log = pcd(folder, "train", "-solver", "solver.prototxt", "--dry-run", "3").stderr
    assert "Optimization Done." in log
    assert sorted(folder.iterdir()) == before


def test_fine_tuning_and_its_refusals(folder):
    pcd(folder, "train", "-solver", "solver.prototxt", "-q")
    model, state = "run_iter_20.caffemodel", "run_iter_20.solverstate"
    log = pcd(folder, "train", "-solver", "solver.prototxt", "-weights", model).stderr
    assert f"Finetuning from {model}" in log
    both = pcd(
        folder,
        *("train", "-solver", "solver.prototxt", "-weights", model, "-snapshot", state),
        code=1,
    )
    assert "not both" in both.stderr
    (folder / "net.prototxt").write_text(NET.replace('name: "ip"', 'name: "other"'))
    none = pcd(folder, "train", "-solver", "solver.prototxt", "-weights", model, code=1)
    assert f"pcd train: {model}: has no weights for this net" in none.stderr


@pytest.mark.parametrize(
    ("change", "args", "text"),
    [
        (("max_iter: 20", "max_iter: 20 gamm: 1"), [], 'no field "gamm"; did you mean "gamma"'),
        (
            ('net: "net.prototxt"', 'net: "no.prototxt"'),
            [],
            'train net "no.prototxt" is not there, seen from',
        ),
        (("fixed", "fixd"), [], 'did you mean "fixed"'),
        (("solver_mode: CPU", "solver_mode: GPU"), [], "a GPU was asked for"),
        (("base_lr", "base_lr"), ["-gpu", "0"], "a GPU was asked for"),
        (("base_lr", "base_lr"), ["--set", "base_l=1"], 'did you mean "base_lr"'),
        (("base_lr", "base_lr"), ["-snapshot", "none.solverstate"], "none.solverstate"),
        (("base_lr", "base_lr"), ["--stats_path", "no/s.yaml"], "is missing or may not be written"),
        (("value: 1", "value: 1"), ["--set-net", "ipp.num_output=4"], 'no layer "ipp"'),
    ],
)
def test_what_cannot_work_is_said_in_a_message(folder, change, args, text):
    (folder / "solver.prototxt").write_text(SOLVER.replace(*change))
    assert text in pcd(folder, "train", "-solver", "solver.prototxt", *args, code=1).stderr


def test_a_label_out_of_range_is_named(folder):
    (folder / "net.prototxt").write_text(NET.replace("value: 1", "value: 7"))
    error = pcd(folder, "train", "-solver", "solver.prototxt", code=1).stderr
    assert 'layer "accuracy"' in error or 'layer "loss"' in error
    assert "7" in error.splitlines()[-1]


@pytest.mark.parametrize("on_nan", ["stop", "snapshot", "continue"])
def test_a_loss_that_is_no_number(folder, on_nan):
    constant = 'weight_filler { type: "constant" value: inf }'
    (folder / "net.prototxt").write_text(NET.replace('weight_filler { type: "xavier" }', constant))
    args = ["train", "-solver", "solver.prototxt", "--on-nan", on_nan]
    log = pcd(folder, *args, code=0 if on_nan == "continue" else 1).stderr
    assert re.search(r"iteration \d+: the loss is (nan|inf); first seen in layer \"ip\"", log)
    assert bool(list(folder.glob("run_iter_*.caffemodel"))) == (on_nan != "stop")


def test_keep_last_and_best(folder):
    solver = SOLVER.replace("snapshot: 10", "snapshot: 2").replace("interval: 10", "interval: 2")
    (folder / "solver.prototxt").write_text(solver)
    args = ["train", "-solver", "solver.prototxt", "-q", "--keep-last", "2"]
    pcd(folder, *args, "--keep-best", "loss")
    kept = sorted(int(p.stem.split("_")[-1]) for p in folder.glob("run_iter_*.caffemodel"))
    assert kept[-2:] == [18, 20]
    assert len(kept) <= 3


def start(folder, *args):
    (folder / "solver.prototxt").write_text(
        SOLVER.replace("max_iter: 20", "max_iter: 10000000").replace("snapshot: 10", "")
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pycaffe_dist", "train", "-solver", "solver.prototxt", *args],
        cwd=folder,
        env=ENV,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if "Iteration 20," in line:
            return process
    raise AssertionError("training did not start")


def finish(process):
    # Read on, or the pipe fills and the process waits for us.
    _, log = process.communicate(timeout=150)
    return log


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_a_signal_stops_with_a_snapshot(folder, number, code):
    process = start(folder)
    process.send_signal(number)
    log = finish(process)
    assert process.returncode == code
    assert "Optimization stopped early." in log
    assert len(list(folder.glob("run_iter_*.solverstate"))) == 1


def test_hup_makes_a_snapshot_and_goes_on(folder):
    process = start(folder)
    process.send_signal(signal.SIGHUP)
    assert any("Snapshotting solver state" in line for line in process.stderr)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    finish(process)
    assert process.returncode == 0


def test_effects_can_be_changed(folder):
    process = start(folder, "-sigint_effect", "none", "-sighup_effect", "stop")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    finish(process)
    assert process.returncode == 0


def test_time_limit(folder):
    (folder / "solver.prototxt").write_text(SOLVER.replace("max_iter: 20", "max_iter: 10000000"))
    log = pcd(folder, "train", "-solver", "solver.prototxt", "--max-time", "1s").stderr
    assert "Optimization stopped early." in log


def test_test_prints_batches_and_means(folder):
    pcd(folder, "train", "-solver", "solver.prototxt", "-q")
    args = ["test", "-model", "net.prototxt", "-weights", "run_iter_20.caffemodel"]
    log = pcd(folder, *args, "-iterations", "3").stderr
    batches = [float(x) for x in re.findall(r"Batch \d, loss = ([\d.e-]+)", log)]
    mean = float(re.search(r"\] Loss: ([\d.e-]+)", log)[1])
    assert len(batches) == 3
    assert mean == pytest.approx(np.mean(batches), rel=1e-4)
    assert re.search(r"\] loss = [\d.e-]+ \(\* 1 = [\d.e-]+ loss\)$", log, re.M)
    assert "is empty" in empty_weights(folder)


def empty_weights(folder):
    (folder / "none.caffemodel").write_bytes(b"")
    args = ["test", "-model", "net.prototxt", "-weights", "none.caffemodel"]
    return pcd(folder, *args, code=1).stderr


def test_time_prints_layers_and_json(folder):
    run = pcd(folder, "time", "-model", "net.prototxt", "-iterations", "2")
    assert re.search(r"\] +ip\tforward: [\d.e-]+ ms\.$", run.stderr, re.M)
    assert "*** Benchmark ends ***" in run.stderr
    assert re.search(r"^whole pass", run.stdout, re.M)
    run = pcd(folder, "time", "-model", "net.prototxt", "-iterations", "2", "--json")
    times = json.loads(run.stdout)
    assert [layer["name"] for layer in times["layers"]] == ["x", "ip", "loss"]


def test_time_against_the_roofline(folder):
    args = "time", "-model", "net.prototxt", "-iterations", "1"
    run = pcd(folder, *args, "--roofline", "-o", "roof.png")
    assert re.search(r"^ip +InnerProduct +forward ", run.stdout, re.M)
    assert (folder / "roof.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(pcd(folder, *args, "--roofline", "--json").stdout)["peaks"]["flops"] > 1e8
    assert "add --roofline" in pcd(folder, *args, "-o", "roof.png", code=2).stderr
    refused = pcd(folder, *args, "--roofline", "-o", "roof.doc", code=1).stderr
    assert "roof.doc: cannot draw a .doc; use one of" in refused


LENET = Path(__file__).parents[3] / "shared" / "golden" / "lenet"


def built(log):
    """The lines of building the nets, without time and thread."""
    lines = [re.sub(r"^I\d+ [\d:.]+ +\d+ ", "", line) for line in log.splitlines()]
    lines = lines[: lines.index("solver.cpp:57] Solver scaffolding done.")]
    # Caffe opens a database a few lines earlier than we do.
    return [line for line in lines if not re.match("max_iter|db_lmdb", line)]


@pytest.mark.skipif(not LENET.is_dir(), reason="no ../shared beside the repository")
def test_the_recorded_lenet_run_goes_on_as_caffe_did(tmp_path):
    for name in ("net.prototxt", "lenet_iter_100.caffemodel", "lenet_iter_100.solverstate"):
        (tmp_path / name).write_bytes((LENET / name).read_bytes())
    for name in ("train_lmdb", "test_lmdb"):
        (tmp_path / name).symlink_to(LENET / name)
    solver = (LENET / "solver.prototxt").read_text().replace("max_iter: 300", "max_iter: 141")
    (tmp_path / "solver.prototxt").write_text(solver)
    args = ["-solver", "solver.prototxt", "-snapshot", "lenet_iter_100.solverstate"]
    log = pcd(tmp_path, "train", *args).stderr

    def losses(text):
        found = re.findall(r"Iteration (\d+) \(.*\), loss = ([\d.e-]+)", text)
        return {int(n): float(loss) for n, loss in found}

    ours, theirs = losses(log), losses((LENET / "resume.log").read_text())
    assert set(ours) == {100, 120, 140}
    for n, loss in ours.items():
        assert loss == pytest.approx(theirs[n], rel=1e-4)
    assert built(log) == built((LENET / "resume.log").read_text())
    tests = re.compile(r"Test net output #\d: (\S+) = ([\d.]+)")
    assert tests.findall(log)[:2] == tests.findall((LENET / "resume.log").read_text())[:2]
