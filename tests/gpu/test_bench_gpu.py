"""The benchmark for people who have a GPU runs; what it measures here is the emulation."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_gpu.py"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return importlib.import_module("bench_gpu")


def test_it_runs_on_the_emulated_device(tmp_path):
    output = tmp_path / "gpu.json"
    command = [sys.executable, str(SCRIPT), "--emulated", "--nets", "lenet", "--output", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].split()[:3] == ["lenet", "train", "2"]
    about, *rows = json.loads(output.read_text())["bench"]["ours"]
    assert about["gpu"] == "emulated on the CPU"
    assert [row["phase"] for row in rows] == ["train", "test"]
    assert all(row["seconds"][0] > 0 for row in rows)


def test_what_was_measured_stays_when_a_net_or_a_side_fails(tmp_path, bench, monkeypatch, capsys):
    """Memory runs out in the second phase, and PyTorch ends in the middle."""
    about = {"name": "pycaffe_dist", "version": "1", "cupy": "14", "gpu": "one"}
    net = {"net": "lenet", "batch": 2}
    too_large = net | {"phase": "test", "error": "OutOfMemoryError: 3 GB"}
    told = {
        "ours": [about, net | {"phase": "train", "seconds": [0.01]}, too_large],
        "torch": [{}, net | {"phase": "train", "seconds": [0.02]}, {"error": "ended with 1"}],
    }
    monkeypatch.setattr(bench, "run", lambda side, python, args: iter(told[side]))
    monkeypatch.setattr(bench.environment, "torch_python", lambda folder: "python")
    output = tmp_path / "report.json"
    monkeypatch.setattr(sys, "argv", ["bench_gpu.py", "--output", str(output)])
    assert bench.main() == 0
    written = json.loads(output.read_text())["bench"]
    assert (written["ours"], written["torch"]) == (told["ours"], told["torch"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["lenet", "train", "2", "10.00", "20.00", "2.00"]
    assert lines[3].split(maxsplit=3) == ["lenet", "test", "2", "OutOfMemoryError: 3 GB"]


def test_a_net_that_does_not_fit_is_told_and_the_next_is_measured(bench, monkeypatch, capsys):
    class Side:
        def about(self):
            return {}

        def prepare(self, net, **_):
            if net == "lenet":
                raise MemoryError("3 GB")

        def step(self):
            pass

        wait = let_go = step

    monkeypatch.setattr(bench, "our_side", lambda args: Side())
    command = ["bench_gpu.py", "--side", "ours", "--nets", "lenet", "resnet50", "--emulated"]
    monkeypatch.setattr(sys, "argv", command)
    assert bench.main() == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row.get("error") for row in rows] == ["MemoryError: 3 GB"] * 2 + [None] * 2
    assert all(row["seconds"] for row in rows[2:])
