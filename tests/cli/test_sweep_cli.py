import json
import math
from types import SimpleNamespace

import pytest
import warm

from pycaffe_dist import events
from pycaffe_dist.cli import sweep as verb
from pycaffe_dist.errors import MissingPartError, NetError
from pycaffe_dist.report.metrics import MetricsFile
from pycaffe_dist.tools import sweep as sweep_module
from pycaffe_dist.tools.sweep import Trial, as_lines, measure, ranked, trials

NET = """
layer { name: "x" type: "DummyData" top: "x" top: "t"
        dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 1 }
                           data_filler { type: "constant" value: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
        inner_product_param { num_output: 1 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" max_iter: 4 display: 1 snapshot_prefix: "s"
test_iter: 1 test_interval: 2
"""


def test_every_combination_is_trained_and_compared(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    words = ["--set", "base_lr=0.01,0.1", "--set", "momentum=0,0.5", "-j", "2"]
    command = ["sweep", "--solver", "solver.prototxt", *words, "--run-dir", "runs/lr"]
    done = warm.pcd(*command, "--", "--max-iter", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 of 4 done: runs/lr/base_lr=0.1_momentum=0.5" in done.stdout
    assert "Chart: runs/lr/sweep.png\n" in done.stdout
    table = done.stdout.split("\n\n")[1].splitlines()
    assert table[0].split()[:3] == ["base_lr", "momentum", "loss"]
    losses = {}
    for folder in (tmp_path / "runs" / "lr").glob("base*"):
        rows = [json.loads(row) for row in (folder / "metrics.jsonl").read_text().splitlines()]
        assert rows[-1]["kind"] == "end" and rows[-1]["iteration"] == 3
        losses[folder.name] = [r["loss"] for r in rows if r["kind"] == "train"][-1]
    assert [row.split()[-1] for row in table[1:]] == [f"{v:.5g}" for v in sorted(losses.values())]
    assert (tmp_path / "runs" / "lr" / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_fails_is_told_and_the_others_are_not_lost(tmp_path):
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    words = ["--solver", "solver.prototxt", "--set", "lr_policy=fixed,nonsense"]
    done = warm.pcd("sweep", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert "failed: " in done.stdout and "nonsense" in done.stdout
    assert (tmp_path / "runs/sweep/lr_policy=fixed/metrics.jsonl").exists()


def test_settings():
    found = trials(["a=1,2", "b=x/y"], "runs")
    assert [t.settings for t in found] == [{"a": "1", "b": "x/y"}, {"a": "2", "b": "x/y"}]
    assert found[0].folder == "runs/a=1_b=x-y"
    assert [t.folder for t in trials([], "runs")] == ["runs/run"]
    for wrong in (["a"], ["a="], ["=1"], ["a=1", "a=2"]):
        with pytest.raises(NetError, match="--set"):
            trials(wrong, "runs")


def test_the_best_comes_first():
    good = Trial({"a": "1"}, "g", loss=9.0, scores={"loss": (1.0, 2), "acc": (0.9, 10)})
    bad = Trial({"a": "2"}, "b", loss=1.0, scores={"loss": (0.5, 2), "acc": (0.5, 20)})
    lost = Trial({"a": "3"}, "l", code=1, why="no disk")
    assert ranked([lost, bad, good]) == [good, bad, lost]
    assert as_lines([bad, lost, good])[1].split() == ["1", "1", "at", "2", "0.9", "at", "10", "9"]


def test_the_last_loss_and_the_best_of_each_score(tmp_path):
    trial = Trial({}, str(tmp_path))
    assert (trial.code, trial.why, trial.scores) == (0, "", {})
    measure(trial)
    assert math.isnan(trial.loss)
    tests = [(0, 0.5, 3.0), (5, 0.75, 2.0), (9, 0.75, 2.5)]
    with MetricsFile(tmp_path / "metrics.jsonl") as told:
        told(events.SolveBegins(0, "net", "fixed", 9))
        for iteration, loss in ((0, 9.0), (8, 4.0)):
            told(events.Displayed(iteration, loss, 0.0, 0.0, 1, []))
            told(events.RateChosen(iteration, 0.1))
        for iteration, accuracy, loss in tests:
            outputs = [events.Output(0, "acc", accuracy), events.Output(1, "l", loss, 1.0)]
            told(events.Tested(iteration, 0, outputs))
    measure(trial)
    assert trial.loss == 4 and trial.scores == {"acc": (0.75, 5), "l": (2.0, 5)}


def test_runs_that_displayed_nothing_are_not_in_the_chart(tmp_path, monkeypatch):
    def swept(solver, planned, *_):
        for trial, event in zip(planned, told, strict=True):
            (tmp_path / trial.folder).mkdir()
            with MetricsFile(trial.metrics) as metrics:
                metrics(events.SolveBegins(0, "net", "fixed", 9))
                for each in event:
                    metrics(each)
            measure(trial)
            yield trial

    loss = events.Displayed(0, 9.0, 0.0, 0.0, 1, [])
    told = [
        [],
        [loss, events.RateChosen(0, 0.1)],
        [events.Tested(0, 0, [events.Output(0, "a", 1)])],
    ]
    drawn = []
    monkeypatch.setattr(verb, "sweep", swept)
    monkeypatch.setattr(verb, "draw", lambda curves, path: drawn.append(sorted(curves)))
    command = ["--solver", "s", "--run-dir", str(tmp_path), "--set"]
    assert verb.main([*command, "x=1,2,3"]) == 0
    assert drawn == [["x=2/metrics", "x=3/metrics"]]
    del told[1:]
    assert verb.main([*command, "y=1"]) == 0
    assert len(drawn) == 1


def test_without_matplotlib_the_chart_is_in_the_terminal(tmp_path, monkeypatch, capsys):
    def draw(*_):
        raise MissingPartError("no matplotlib")

    monkeypatch.setattr(verb, "draw", draw)
    with MetricsFile(tmp_path / "metrics.jsonl") as told:
        for iteration, loss in ((0, 9.0), (8, 4.0)):
            told(events.Displayed(iteration, loss, 0.0, 0.0, 1, []))
            told(events.RateChosen(iteration, 0.1))
    verb._chart([str(tmp_path / "metrics.jsonl")], str(tmp_path))
    said = capsys.readouterr().out
    assert "iterations" in said and len(said.splitlines()) > 20 and "Chart:" not in said
    with MetricsFile(tmp_path / "nan.jsonl") as told:
        told(events.Displayed(0, math.nan, 0.0, 0.0, 1, []))
        told(events.RateChosen(0, math.nan))
    for metrics in ([], [str(tmp_path / "nan.jsonl")]):
        verb._chart(metrics, str(tmp_path))
        assert capsys.readouterr().out == ""


def test_each_job_has_its_share_of_the_cores(tmp_path, monkeypatch):
    asked = []

    def run(command, stdout, stderr, check):
        asked.append(command[command.index("--threads") + 1])
        stdout.write(b"first\n\nthe last\n \n")
        return SimpleNamespace(returncode=2)

    monkeypatch.setattr(sweep_module.subprocess, "run", run)
    monkeypatch.setattr(sweep_module, "usable_cores", lambda: 7)
    for jobs, threads in ((1, "7"), (2, "3"), (9, "1")):
        (done,) = sweep_module.sweep("s", [Trial({"a": "1"}, str(tmp_path / "r"))], jobs, ["-x"])
        assert asked[-1] == threads and (done.code, done.why) == (2, "the last")
    (tmp_path / "empty").write_text("\n")
    assert sweep_module._last_line(tmp_path / "empty") == "it said nothing"
