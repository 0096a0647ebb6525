"""The benchmark for people who have a GPU runs; what it measures here is the emulation."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_gpu.py"


def test_it_runs_on_the_emulated_device(tmp_path):
    output = tmp_path / "gpu.json"
    command = [sys.executable, str(SCRIPT), "--emulated", "--nets", "lenet", "--output", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].split()[:3] == ["lenet", "train", "2"]
    about, *rows = json.loads(output.read_text())["ours"]
    assert about["gpu"] == "emulated on the CPU"
    assert [row["phase"] for row in rows] == ["train", "test"]
    assert all(row["seconds"][0] > 0 for row in rows)
