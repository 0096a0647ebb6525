"""What Weights & Biases and MLflow are told; stand-ins note it, as both want another protobuf."""

import math
import sys
import types

import pytest

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
