"""What benchmarks write into pages of docs/: text between two marks, and its source."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
END = "<!-- end -->"


def put(page: Path, script: str, text: str) -> None:
    """Replace what stands in a page between ``<!-- by SCRIPT -->`` and the next end."""
    begin, whole = f"<!-- by {script} -->\n", page.read_text()
    before, mark, after = whole.partition(begin)
    if not mark or END not in after:
        raise SystemExit(f"{page} has no place for it: expected {begin.strip()} ... {END}")
    page.write_text(f"{before}{begin}\n{text.strip()}\n\n{END}{after.partition(END)[2]}")


def stamp() -> dict[str, str]:
    """When and with what something was measured."""
    words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    head = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    return {"date": time.strftime("%Y-%m-%d"), "commit": head}


def source(script: str, stamps: list[dict[str, str]]) -> str:
    """The line that says so below a table."""
    last = max(stamps, key=lambda s: s["date"])
    commits = list(dict.fromkeys(s["commit"] for s in stamps))
    word = "commits" if len(commits) > 1 else "commit"
    return f"Source: `{script}`, {last['date']}, {word} {', '.join(commits)}."
