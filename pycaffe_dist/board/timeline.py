"""A traced step, rank by rank: what each computed, exchanged and waited for."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict

from pycaffe_dist.aliases import Facts
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.runs import DEEPEST, Run
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes, reading


class SpanRow(TypedDict):
    """A span of a trace for the page; ``begin`` and ``ms`` are milliseconds."""

    rank: int
    row: int
    kind: str
    name: str
    begin: float
    ms: float
    scheme: str
    bytes: int


LARGEST = 256 << 20  # bytes of a trace
MOST_SPANS = 20_000  # shown
MOST_LOOSE = 100  # JSON files of a folder without a run that are looked into


def traces(run: Run) -> list[str]:
    """The names of the traces in a run's folder: JSON files that begin as `--trace` writes them."""
    if run.folder is None:
        return []
    paths = sorted(run.folder.glob("*.json"))
    return [path.name for path in paths if _is_trace(run.places, path)]


def loose_traces(places: Places, runs: Iterable[Run]) -> dict[str, Path]:
    """Traces beside the runs, as `pcd simulate --timeline` writes them, by name."""
    taken = {run.folder for run in runs}
    found: dict[str, Path] = {}
    for root in places.roots:
        for top, folders, files in os.walk(root):
            here = Path(top)
            depth = len(here.relative_to(root).parts)
            folders[:] = sorted(f for f in folders if not f.startswith(".") and depth < DEEPEST)
            if here in taken:
                continue
            for file in sorted(f for f in files if f.endswith(".json"))[:MOST_LOOSE]:
                name = (here / file).relative_to(root).as_posix()
                while name in found:  # in another of the folders
                    name += "'"
                if _is_trace(places, here / file):
                    found[name] = here / file
    return found


def _is_trace(places: Places, path: Path) -> bool:
    """Whether a file in the board's folders begins as `--trace` writes it."""
    try:
        return b'"traceEvents"' in read_bytes(places.inside(path), 200)
    except FileError:
        return False


def read_trace(path: Path) -> list[SpanRow]:
    """The spans of a trace: rank, row, kind, name, begin and length in milliseconds, facts."""
    if path.stat().st_size > LARGEST:
        raise FileError(f"{path}: is larger than {LARGEST >> 20} MB; trace fewer iterations")
    with reading(path, "is no trace"):
        events = json.loads(read_bytes(path))["traceEvents"]
        return [
            {
                "rank": int(e["pid"]),
                "row": int(e["tid"]),
                "kind": str(e.get("cat", "")),
                "name": str(e["name"]),
                "begin": float(e["ts"]) / 1e3,
                "ms": float(e["dur"]) / 1e3,
                "scheme": str(e.get("args", {}).get("scheme", "")),
                "bytes": int(e.get("args", {}).get("sent", 0)),
            }
            for e in events
            if e.get("ph") == "X"
        ]


def timeline(path: Path, begin: float | None = None, end: float | None = None) -> Facts:
    """The spans of one step, or of the time that is asked for, and what they come to by rank."""
    spans = read_trace(path)
    if not spans:
        raise FileError(f"{path}: has no spans")
    whole = max(s["begin"] + s["ms"] for s in spans)
    if begin is None or end is None:
        begin, end = _second_step(spans, whole)
    shown = [s for s in spans if s["begin"] < end and s["begin"] + s["ms"] > begin]
    return {
        "begin": begin,
        "end": end,
        "whole": whole,
        "cut": max(0, len(shown) - MOST_SPANS),
        "spans": shown[:MOST_SPANS],
        "ranks": _by_rank(spans),
    }


def _second_step(spans: list[SpanRow], whole: float) -> tuple[float, float]:
    """The stretch between two forward passes of the first layer; the first step warms up."""
    forward = [s for s in spans if s["rank"] == 0 and s["name"].endswith(" forward")]
    first = forward[0]["name"] if forward else ""
    begins = sorted(s["begin"] for s in forward if s["name"] == first)
    if len(begins) > 2:
        return begins[1], begins[2]
    return (begins[-1] if len(begins) == 2 else 0.0), whole


def _by_rank(spans: list[SpanRow]) -> list[Facts]:
    """Sums of a rank; overlap is the part of its exchanges that nobody waited for."""
    sums: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    busy: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for s in spans:
        sums[s["rank"]][s["kind"]] += s["ms"]
        sums[s["rank"]]["bytes"] += s["bytes"]
        if s["kind"] == "exchange":
            busy[s["rank"]].append((s["begin"], s["begin"] + s["ms"]))
    least = min((sums[r]["wait"] for r in sums), default=0.0)
    found = []
    for rank in sorted(sums):
        under_way, waited = _union(busy[rank]), sums[rank]["wait"]
        found.append(
            {
                "rank": rank,
                "compute": round(sums[rank]["compute"], 3),
                "wait": round(waited, 3),
                "exchange": round(under_way, 3),
                "overlap": max(0.0, (under_way - waited) / under_way) if under_way else 1.0,
                "bytes": int(sums[rank]["bytes"]),
                # Who waits least is who the others wait for.
                "late": len(sums) > 1 and waited == least,
            }
        )
    return found


def _union(spans: list[tuple[float, float]]) -> float:
    total, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def layer_times(path: Path | None) -> dict[str, Facts]:
    """By layer: mean milliseconds forward and backward, and the scheme of its parameters."""
    found: dict[str, Facts] = defaultdict(dict)
    if path is None:
        return found
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for s in read_trace(path):
        if s["kind"] == "compute":
            name, _, way = s["name"].rpartition(" ")
            times[name, way].append(s["ms"])
        elif s["kind"] == "exchange":
            for name in s["name"].replace(",", " ").split():
                found[name.partition("[")[0]]["scheme"] = s["scheme"]
    for (name, way), values in times.items():
        found[name][f"{way}_ms"] = round(sum(values) / len(values), 4)
    return found
