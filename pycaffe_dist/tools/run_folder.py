"""The folder of a run (``--run-dir``): it holds one run, and says later what the run was."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pycaffe_dist.errors import FileError
from pycaffe_dist.files import atomic_write, make_folder, open_regular
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.nets import train_net
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.report.info import as_json, gather

LOG, METRICS, COMMANDS = "train.log", "metrics.jsonl", "command.txt"


def claim(folder: str, resume: str) -> None:
    """Make the folder of a run that begins, or that resumes from ``resume`` ("auto": if it can).

    A run that ended before its first iteration has left nothing that is worth keeping.

    Raises:
        FileError: it cannot be made, or holds another run.
    """
    make_folder(folder)
    ours = resume == "auto" or bool(resume and _lies_in(resume, folder))
    if ours or os.environ.get(lifeline.AGAIN) or not holds_run(folder):
        return
    raise FileError(
        f"{folder}: holds a run already (its commands are in {Path(folder) / COMMANDS}). "
        f"To continue it: --resume auto. For another run: --run-dir {next_name(folder)}"
    )


def holds_run(folder: str) -> bool:
    """Whether a run has trained here: there are snapshots, or lines of metrics."""
    metrics = Path(folder) / METRICS
    snapshots = Path(folder).glob("*_iter_*.solverstate*")
    return (metrics.exists() and metrics.stat().st_size > 0) or any(snapshots)


def next_name(folder: str) -> str:
    """``runs/digits-2`` after ``runs/digits``, or the next that is free."""
    stem, number = folder.rstrip("/"), 1
    if match := re.fullmatch(r"(.*[^/])-(\d{1,6})", stem):
        stem, number = match[1], int(match[2])
    while os.path.lexists(f"{stem}-{number + 1}"):
        number += 1
    return f"{stem}-{number + 1}"


def describe(folder: str, command: str, param: SolverParameter) -> None:
    """What a run was, for whoever finds its folder later; a resumed one adds its command."""
    place = Path(folder)
    before = _read(place / COMMANDS) if os.path.lexists(place / COMMANDS) else ""
    for name, text in (
        ("solver.prototxt", format_text(param)),
        ("net.prototxt", format_text(train_net(param).read().net)),
        (COMMANDS, f"{before}{command}\n"),
        ("info.json", as_json(gather())),
    ):
        with atomic_write(place / name) as file:
            file.write(text.encode(errors="surrogateescape"))


def _read(path: Path) -> str:
    with open_regular(path, "rb") as file:
        return file.read().decode(errors="surrogateescape")


def _lies_in(path: str, folder: str) -> bool:
    parent = os.path.dirname(os.path.abspath(path))
    return os.path.isdir(parent) and os.path.samefile(parent, folder)
