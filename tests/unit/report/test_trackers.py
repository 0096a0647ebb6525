"""What Weights & Biases and MLflow are told, by stand-ins and by themselves, offline."""

import math
import os
import subprocess
import sys
import types

import pytest
from made_runs import NET, SOLVER, make_data

from pycaffe_dist import events as e
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.report.trackers import MLflow, WandB

EVENTS = (
    e.Displayed(0, 2.5, 0.0, 0.1, 100, [e.Output(0, "loss", 2.0, 1.0)]),
    e.RateChosen(0, 0.0625),
    e.Tested(10, 0, [e.Output(0, "recall", 0.25), e.Output(1, "recall", math.nan)]),
)


@pytest.fixture
def noted(monkeypatch):
    calls = []

    def note(name):
        return lambda *args, **named: calls.append((name, args, named)) or run

    run = types.SimpleNamespace(log=note("log"), finish=note("finish"))
    wandb, mlflow = types.ModuleType("wandb"), types.ModuleType("mlflow")
    wandb.init = note("init")
    for name in ("set_tracking_uri", "start_run", "log_params", "log_metrics", "end_run"):
        setattr(mlflow, name, note(name))
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    for name in ("MLFLOW_TRACKING_URI", "WANDB_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    return calls


def test_wandb(noted, tmp_path):
    with WandB(str(tmp_path / "run"), {"base_lr": "0.1"}) as tell:
        for event in EVENTS:
            tell(event)
    name, _, named = noted[0]
    assert name == "init" and named["config"] == {"base_lr": "0.1"}
    assert (named["project"], named["name"]) == ("pycaffe_dist", "run")
    logged = [(args[0], named["step"]) for name, args, named in noted if name == "log"]
    assert logged[:2] == [
        ({"train/loss": 2.5, "train/output/loss": 2.0}, 0),
        ({"train/lr": 0.0625}, 0),
    ]
    assert list(logged[2][0]) == ["test0/recall", "test0/recall[1]"] and logged[2][1] == 10
    assert noted[-1] == ("finish", (), {"exit_code": 0})


def test_mlflow(noted, tmp_path, monkeypatch):
    with pytest.raises(ZeroDivisionError), MLflow(str(tmp_path / "run"), {"x": "y" * 900}) as tell:
        tell(EVENTS[2])
        _ = 1 / 0
    names = [name for name, _, _ in noted]
    assert names == ["set_tracking_uri", "start_run", "log_params", "log_metrics", "end_run"]
    assert noted[0][1][0] == (tmp_path / "run" / "mlruns").as_uri()
    assert len(noted[2][1][0]["x"]) == 500
    assert list(noted[3][1][0]) == ["test0/recall", "test0/recall.1"]
    assert noted[4][1] == ("FAILED",)
    noted.clear()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://localhost:1")
    MLflow(str(tmp_path / "run"), {}).close(failed=False)
    assert [name for name, _, _ in noted] == ["start_run", "log_params", "end_run"]


def test_one_that_is_not_installed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingPartError, match="wandb"):
        WandB(str(tmp_path), {})


@pytest.mark.timeout(180)  # both take their time to start
def test_both_write_their_own_files_without_a_network(tmp_path):
    make_data(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    words = ["train", "--solver", "solver.prototxt", "--run-dir", "run", "--max-iter", "6", "-q"]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WANDB_", "MLFLOW_"))}
    env |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pycaffe_dist", *words, "--report", "wandb,mlflow"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (written,) = (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")
    assert all(name in written.read_bytes() for name in (b"train/loss", b"train/lr", b"test0/acc"))
    (folder,) = (tmp_path / "run" / "mlruns").glob("*/*/metrics")
    rows = [line.split() for line in (folder / "test0" / "acc").read_text().splitlines()]
    assert [int(step) for _, _, step in rows] == [0, 5]
    rates = [line.split() for line in (folder / "train" / "lr").read_text().splitlines()]
    assert [(round(float(rate), 6), int(step)) for _, rate, step in rates] == [
        *((0.05, 0), (0.05, 2), (0.05, 4))
    ]
    assert (folder.parent / "params" / "base_lr").read_text() == "0.05"
