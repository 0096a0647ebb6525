"""One file with everything that a run on a GPU has found: tests, benchmark, what the machine is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "runs" / "gpu_report.json"


def add(part: str, found: Any, path: Path = PATH) -> None:
    """Put a part into the file, in place of what it said of that before."""
    report = json.loads(path.read_text()) if path.exists() else {}
    report[part] = found
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(report, indent=1) + "\n")
    fresh.replace(path)  # whoever is stopped leaves the file of before
