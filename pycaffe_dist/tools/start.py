"""``pycaffe_dist.train``: what ``pcd train`` does, for notebooks and scripts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import NetError, PcdError
from pycaffe_dist.parallel.cluster import connect
from pycaffe_dist.parallel.job.launcher import launched
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.report.metrics import Metrics, read_metrics
from pycaffe_dist.tools.train import TrainOptions, resolve
from pycaffe_dist.tools.train import train as train_here
from pycaffe_dist.tools.train_reports import metrics_path

Row = Facts
POLL_SECONDS = 0.1
# What has another name, or none, here.
OWN = ("solver", "cluster", "command", "device", "comm", "options")


def train(
    solver: str,
    ranks: int | None = None,
    comm: str = "auto",
    callbacks: Sequence[Callable[[Row], object]] = (),
    **flags: object,
) -> list[Row]:
    """Train as ``pcd train`` does; the rows of its ``metrics.jsonl``, on rank 0.

    With several ``ranks`` processes are started here; under mpirun or srun the ranks are those that
    it has started, and every one of them makes this call.

    Args:
        solver: the solver's prototxt.
        ranks: how many; one trains in this process.
        comm: how gradients travel.
        callbacks: each is called with every row (a display, a test, a snapshot) as it comes.
        flags: others of ``pcd train``, by their names: ``run_dir="runs/1"``, ``max_iter=100``,
            ``set=["base_lr=0.1"]``, ``staleness=2``.

    Raises:
        NetError: there is no such flag.
        PcdError: training failed, or a signal ended it.
    """
    options = _options(solver, comm, flags)
    if ranks is not None and ranks > 1 and not launched():
        path = Path(metrics_path(options, resolve(options)))
        return _in_processes(_arguments(solver, ranks, comm, flags), path, callbacks)
    rows: list[Row] = []

    def put(row: Row) -> None:
        rows.append(row)
        for callback in callbacks:
            callback(row)

    communicator = connect()
    if ranks not in (None, communicator.size):
        raise NetError(f"train(ranks={ranks}), but the launcher started {communicator.size}")
    code = train_here(options, communicator, [Metrics(put)])
    if code:
        raise PcdError(f"training was ended by a signal (exit code {code})")
    return rows


def _options(solver: str, comm: str, flags: Facts) -> TrainOptions:
    known = _names(TrainOptions) | _names(ClusterSettings)
    for name in flags:
        if name not in known:
            raise NetError(f"train() has no argument {name}{did_you_mean(name, known)}")
    ours = {name: value for name, value in flags.items() if name in _names(TrainOptions)}
    theirs = {name: value for name, value in flags.items() if name not in ours}
    return TrainOptions(solver, cluster=ClusterSettings(comm=comm, **theirs), **ours)


def _names(kind: type) -> set[str]:
    return {field.name for field in fields(kind)} - set(OWN)


def _arguments(solver: str, ranks: int, comm: str, flags: Facts) -> list[str]:
    """The same as arguments of ``pcd train``."""
    words = ["--solver", solver, "--ranks", str(ranks), "--comm", comm]
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool) and name in ("overlap", "nccl"):
            words += [flag, "on" if value else "off"]
        elif isinstance(value, bool):
            words += [flag] * value
        elif isinstance(value, dict):
            words += [word for item in value.items() for word in (flag, "=".join(item))]
        elif isinstance(value, (list, tuple)):
            words += [word for item in value for word in (flag, str(item))]
        elif value is not None:
            words += [flag, str(value)]
    return words


def _in_processes(
    words: list[str], path: Path, callbacks: Sequence[Callable[[Row], object]]
) -> list[Row]:
    """Start ``pcd train``, follow its metrics, and wait for its end."""
    before = len(read_metrics(path)) if path.exists() else 0
    rows: list[Row] = []
    process = subprocess.Popen([sys.executable, "-m", "pycaffe_dist", "train", *words])
    try:
        for row in _followed(path, before, process):
            rows.append(row)
            for callback in callbacks:
                callback(row)
    except BaseException:
        process.terminate()
        raise
    finally:
        code = process.wait()
    if code:
        raise PcdError(f"pcd train ended with exit code {code}; it says above why")
    return rows


def _followed(path: Path, before: int, process: subprocess.Popen[bytes]) -> Iterator[Row]:
    """The rows of a file that grows as long as a process runs."""
    seen, size = before, -1
    while True:
        running = process.poll() is None
        now = path.stat().st_size if path.exists() else 0
        if now != size:
            size = now
            found = read_metrics(path) if now else []
            yield from found[seen:]
            seen = max(seen, len(found))
        if not running:
            return
        time.sleep(POLL_SECONDS)
