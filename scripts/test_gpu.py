"""Kernels, layers, nets and solvers on a real GPU, and a report of what came of it.

    make test-gpu
    python scripts/test_gpu.py -k conv           # of each part, the tests that pytest's flags leave

Every part runs whatever the one before has found.  The exit code is that of the worst.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

from bench import environment, gpu_report

ROOT = Path(__file__).resolve().parent.parent
ON_GPU = (
    *("layers", "golden", "unit/solvers", "unit/test_net.py", "unit/test_solver.py"),
    *("unit/pycaffe/test_net.py", "unit/test_testing_kit.py", "unit/test_custom_layers.py"),
    *("unit/test_loading.py", "unit/pycaffe/test_classifier.py", "unit/pycaffe/test_detector.py"),
)
PARTS = {
    "kernels": ["tests/gpu"],
    "layers": ["--backend", "cupy", "-m", "not host", *(f"tests/{name}" for name in ON_GPU)],
}


def run(flags: list[str]) -> tuple[int, dict[str, Any]]:
    """Some tests: pytest's exit code, and how many passed, with those that did not."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.xml")
        command = [sys.executable, "-m", "pytest", *flags, f"--junitxml={results}"]
        begin = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, "PCD_TEST_GPU": "1"}).returncode
        found = read(results) if results.exists() else {}
    return code, found | {"exit code": code, "seconds": round(time.monotonic() - begin, 1)}


def read(results: Path) -> dict[str, Any]:
    """From pytest's JUnit file."""
    counts, bad = {"passed": 0, "skipped": 0}, []
    for case in ET.parse(results).iter("testcase"):
        wrong = [w for kind in ("failure", "error") for w in case.findall(kind)]
        if wrong:
            name = f"{case.get('classname')}::{case.get('name')}"
            bad.append({"test": name, "message": wrong[0].get("message", "")})
        else:
            counts["skipped" if case.find("skipped") is not None else "passed"] += 1
    return counts | {"failed": len(bad), "failures": bad}


def doctor() -> Any:
    """What `pcd doctor --gpu` says."""
    command = [sys.executable, "-m", "pycaffe_dist", "doctor", "--gpu", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else done.stderr


def main() -> int:
    codes = []
    gpu_report.add("doctor", doctor())
    report: dict[str, Any] = {"machine": environment.machine()}
    for name, flags in PARTS.items():
        code, report[name] = run([*flags, *sys.argv[1:]])
        codes.append(code)
        gpu_report.add("tests", report)
    for name in PARTS:
        found = report[name]
        counts = ", ".join(f"{found[k]} {k}" for k in ("passed", "failed", "skipped") if k in found)
        print(f"{name}: {counts or 'no test ran'}")
    print(gpu_report.PATH)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
