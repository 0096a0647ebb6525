"""pycaffe's modes: what holds for the whole process (CPU or GPU, device, ranks, log)."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache

from pycaffe_dist import engines
from pycaffe_dist.engines.base import chosen_engine, set_default_engine
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.registry import layer_types
from pycaffe_dist.report.glog import ASKED, SEVERITIES, log_to_stderr
from pycaffe_dist.rng import set_random_seed

CPU_INSTEAD = "PCD_CPU"
log_ = logging.getLogger("pycaffe_dist.pycaffe")


@dataclass
class Settings:
    """What pycaffe keeps for the whole process."""

    device: int = 0
    ranks: int = 1
    rank: int = 0
    multiprocess: bool = False
    phase: int | None = None  # of nets that name none, as scripts of 2014 do


SETTINGS = Settings()


def set_mode_cpu() -> None:
    """Nets built from now on compute on the CPU."""
    set_default_engine(None)


def set_mode_gpu() -> None:
    """Nets built from now on compute on the GPU that ``set_device`` chose, or else on the first.

    With the variable PCD_CPU set they compute on the CPU, and a line says so.

    Raises:
        MissingPartError: CuPy, the driver or the device is missing.
    """
    if cpu_instead():
        _say_cpu_instead()
        set_mode_cpu()
        return
    try:
        engines.choose("cupy", SETTINGS.device)
    except MissingPartError as e:
        cpu = f"A script need not be edited for that: pcd run --cpu SCRIPT, or {CPU_INSTEAD}=1"
        raise MissingPartError(f"{e} {cpu}") from None


def cpu_instead() -> bool:
    """Whether the CPU is taken where a script asks for a GPU."""
    return os.environ.get(CPU_INSTEAD, "0") != "0"


@cache
def _say_cpu_instead() -> None:
    begin_log()
    log_.warning("The script asks for a GPU; %s is set: computing on the CPU", CPU_INSTEAD)


def set_device(device: int) -> None:
    """Choose the GPU, whether ``set_mode_gpu`` comes before or after."""
    SETTINGS.device = device
    chosen = chosen_engine()
    if chosen is not None and chosen.name == "cupy":
        engines.choose("cupy", device)


def set_precision(name: str) -> None:
    """Nets built from now on compute with "fp32", "bf16" or "bf16-emulated"; ours, not pycaffe's.

    Raises:
        NetError: this machine, or the engine chosen, has no such precision.
    """
    engines.set_precision(name)


def solver_count() -> int:
    """How many solvers train together, as ``set_solver_count`` was told."""
    return SETTINGS.ranks


def set_solver_count(count: int) -> None:
    """Data are dealt out to so many solvers; nets that are built from now on read their share."""
    SETTINGS.ranks = count


def solver_rank() -> int:
    """Which of these solvers this process is."""
    return SETTINGS.rank


def set_solver_rank(rank: int) -> None:
    """Which of the solvers this process is, from 0; the first one alone writes a log."""
    SETTINGS.rank = rank


def set_multiprocess(value: bool) -> None:
    """As in pycaffe; solvers are always processes of their own here, so nothing depends on it."""
    SETTINGS.multiprocess = value


def layer_type_list() -> list[str]:
    """Every known layer type, in alphabetical order."""
    return list(layer_types())


def init_log(level: int = 0, to_stderr: bool = True) -> None:
    """Log from a glog severity on: 0 info, 1 warning, 2 error; GLOG_minloglevel counts no more.

    Without ``to_stderr`` only errors go to standard error, the rest to GLOG_log_dir if it is set.
    """
    ASKED.level, ASKED.to_stderr = SEVERITIES[level], to_stderr
    begin_log()


def begin_log() -> None:
    """Nets and solvers of scripts log as Caffe's do; of several ranks the first one speaks."""
    log_to_stderr(logging.WARNING if SETTINGS.rank else None)


def log(text: str) -> None:
    """A line in Caffe's log."""
    begin_log()
    log_.info(text)


__all__ = [
    "init_log",
    "layer_type_list",
    "log",
    "set_device",
    "set_mode_cpu",
    "set_mode_gpu",
    "set_multiprocess",
    "set_precision",
    "set_random_seed",
    "set_solver_count",
    "set_solver_rank",
    "solver_count",
    "solver_rank",
]
