"""Where the bytes and the seconds of a run went, as YAML (PMLS-Caffe's ``--stats_path``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from pycaffe_dist.aliases import Facts
from pycaffe_dist.files import atomic_write
from pycaffe_dist.parallel.observe.trace import Totals

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
NOT_TEXT = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")  # what YAML takes them for


def write_stats(path: str, reports: Sequence[Facts], **facts: object) -> None:
    """Sums over all ranks by layer and scheme, and each rank's times.

    Args:
        path: the file.
        reports: ``Recorder.report`` of every rank.
        facts: of the run: iterations, batch.
    """
    with atomic_write(path) as file:
        file.write("\n".join(_yaml(stats(reports, **facts))).encode() + b"\n")


def stats(reports: Sequence[Facts], **facts: object) -> Facts:
    layers: dict[str, Facts] = {}
    for report in reports:
        for name, scheme, exchanges, sent, received, seconds in report["traffic"]:
            layer = layers.setdefault(name, {}).setdefault(
                scheme, {"exchanges": 0, "bytes_sent": 0, "bytes_received": 0, "seconds": 0.0}
            )
            layer["exchanges"] = max(layer["exchanges"], exchanges)
            layer["bytes_sent"] += sent
            layer["bytes_received"] += received
            layer["seconds"] = max(layer["seconds"], seconds)
    return {**facts, "ranks": [_rank(report) for report in reports], "layers": layers}


def _rank(report: Facts) -> Facts:
    totals = Totals(**report["totals"])
    return {
        "rank": report["rank"],
        "host": report["host"],
        "seconds": totals.elapsed,
        "compute_seconds": totals.compute,
        "blocked_seconds": totals.exposed,
        "communication_seconds": totals.busy,
        "overlap": totals.overlap,
        "bytes_sent": totals.sent,
        "bytes_received": totals.received,
    }


# -- just enough YAML ------------------------------------------------------------------------------


def _yaml(value: Facts, indent: str = "") -> Iterator[str]:
    for key, item in value.items():
        name = _scalar(key)
        if isinstance(item, dict) and item:
            yield f"{indent}{name}:"
            yield from _yaml(item, indent + "  ")
        elif isinstance(item, list) and item:
            yield f"{indent}{name}:"
            for entry in item:
                first, *rest = _yaml(entry)
                yield f"{indent}- {first}"
                yield from (f"{indent}  {line}" for line in rest)
        else:
            yield f"{indent}{name}: {_scalar(item)}"


def _scalar(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in NOT_TEXT:
        return value
    return json.dumps(value)  # a string of JSON is one of YAML
