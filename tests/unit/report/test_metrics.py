import json
import logging
import math
import os
import subprocess
import sys
from functools import partial

import pytest

from pycaffe_dist import events as e
from pycaffe_dist.errors import FileError
from pycaffe_dist.report import metrics
from pycaffe_dist.report.metrics import Appender, MetricsFile, by_name, read_metrics

LOSS = [e.Output(0, "loss", 0.5, 1.0)]


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_times(row):
    return {key: value for key, value in row.items() if key not in ("seconds", "time")}


def test_a_whole_run(tmp_path):
    path = tmp_path / "m.jsonl"
    metrics = MetricsFile(path, batch_size=64)
    for event in (
        e.SolveBegins(0, "LeNet", "inv", 200),
        e.TestBegins(0, 0),
        e.Tested(0, 0, [e.Output(0, "accuracy", 0.1), e.Output(1, "loss", 2.5, 1.0)]),
        e.Displayed(0, 2.5, 0.0, 0.1, 100, LOSS),
        e.StepPassed(0, 1),
        e.RateChosen(0, 0.01),
        e.Updated(1, 2.5, 0.01),
        e.Displayed(100, 0.5, 20.0, 5.0, 100, LOSS),
        e.RateChosen(100, 0.005),
        e.Snapshotting(200, "weights", "binary proto", "x"),
        e.Snapshotted(200, "x.caffemodel", "x.solverstate"),
        e.LastLoss(200, 0.25),
        e.Tested(200, 1, [e.Output(0, "accuracy", 0.9)], loss=0.3),
        e.SolveEnds(200, False),
    ):
        metrics(event)
    weights = {"loss": 1.0}
    train = {"kind": "train", "outputs": {"loss": 0.5}, "loss_weights": weights}
    assert [without_times(row) for row in rows(path)] == [
        {"kind": "begin", "iteration": 0, "net": "LeNet", "max_iter": 200},
        {
            "kind": "test",
            "iteration": 0,
            "net": 0,
            "outputs": {"accuracy": 0.1, "loss": 2.5},
            "loss_weights": weights,
        },
        train | {"iteration": 0, "loss": 2.5, "lr": 0.01},
        train | {"iteration": 100, "loss": 0.5, "lr": 0.005, "images_per_second": 1280.0},
        {
            "kind": "snapshot",
            "iteration": 200,
            "weights": "x.caffemodel",
            "state": "x.solverstate",
        },
        {
            "kind": "train",
            "iteration": 200,
            "loss": 0.25,
            "lr": None,
            "outputs": {},
            "loss_weights": {},
        },
        {
            "kind": "test",
            "iteration": 200,
            "net": 1,
            "outputs": {"accuracy": 0.9},
            "loss_weights": {},
            "loss": 0.3,
        },
        {"kind": "end", "iteration": 200, "early": False},
    ]
    assert all(0 <= row["seconds"] < 60 for row in rows(path))
    assert read_metrics(path) == rows(path)


def test_every_line_is_there_when_its_event_is_over(tmp_path):
    metrics = MetricsFile(tmp_path / "m.jsonl")
    metrics(e.SolveBegins(0, "n", "fixed", 1))
    assert len(rows(tmp_path / "m.jsonl")) == 1


def test_the_iteration_that_failed_is_written_at_the_end(tmp_path):
    path = tmp_path / "m.jsonl"
    with pytest.raises(RuntimeError), MetricsFile(path) as metrics:
        metrics(e.Displayed(7, math.nan, 1.0, 1.0, 1, LOSS))
        raise RuntimeError("diverged")
    (row,) = rows(path)
    assert (row["iteration"], row["loss"], row["lr"]) == (7, "nan", None)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_a_string_that_float_reads(tmp_path, value):
    path = tmp_path / "m.jsonl"
    metrics = MetricsFile(path)
    metrics(e.Tested(0, 0, [e.Output(0, "a", value)]))
    text = rows(path)[0]["outputs"]["a"]
    assert isinstance(text, str)
    assert float(text) == value or (math.isnan(value) and math.isnan(float(text)))


def test_a_resumed_run_goes_on_in_the_same_file(tmp_path):
    path = tmp_path / "m.jsonl"
    MetricsFile(path)(e.SolveEnds(5, True))
    with path.open("a") as file:
        file.write('{"kind": "train", "iter')  # a kill came here
    MetricsFile(path)(e.SolveEnds(9, False))
    assert [row["iteration"] for row in read_metrics(path)] == [5, 9]


def test_the_file_stays_where_it_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    metrics = MetricsFile("m.jsonl")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir("other")
    metrics(e.SolveEnds(1, False))
    assert len(rows(tmp_path / "m.jsonl")) == 1


def test_a_missing_folder_is_told_at_once(tmp_path):
    with pytest.raises(FileError, match="cannot be written: No such file"):
        MetricsFile(tmp_path / "none" / "m.jsonl")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_one_warning(tmp_path, monkeypatch, caplog):
    append = Appender(tmp_path / "full")
    full = partial(open, "/dev/full")
    monkeypatch.setattr(metrics, "open_regular", lambda _, mode, buffering: full(mode, buffering))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            append(b"record\n")
    (message,) = caplog.messages
    assert "full: cannot be written: No space left on device; training continues" in message


def test_no_half_record_stays(tmp_path):
    """A limit on the size of files stands for a disk that is full in the middle of a record."""
    path = tmp_path / "records"
    script = f"""
import resource
from pycaffe_dist.report import metrics
from pycaffe_dist.report.metrics import Appender
append = Appender({str(path)!r})
append(b"whole\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
append(b"cut here, and not kept\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
append(b"whole again\\n")
"""
    subprocess.run([sys.executable, "-c", script], check=True, stderr=subprocess.PIPE)
    assert path.read_bytes() == b"whole\nwhole again\n"


def test_elements_of_a_blob_have_names_of_their_own():
    pairs = [("a", 1), ("recall", 2), ("recall", 3), ("recall", 4), ("z", 5)]
    assert by_name(pairs) == {"a": 1, "recall": 2, "recall[1]": 3, "recall[2]": 4, "z": 5}
