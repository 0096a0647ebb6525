"""Engines: where a net computes.  Each brings its memory and its faster layers."""

from __future__ import annotations

import importlib
import os

from pycaffe_dist import caffe_log as log
from pycaffe_dist.engines.base import NUMPY, Engine, chosen_engine, set_default_engine
from pycaffe_dist.errors import MissingPartError, NetError

NAMES = ("numpy", "onednn", "cupy")
PRECISION = "PCD_PRECISION"  # the variable: what it names holds for started ranks, too
PRECISIONS = ("fp32", "tf32", "bf16", "bf16-emulated", "fp16")

__all__ = [
    "NAMES",
    "NUMPY",
    "PRECISIONS",
    "Engine",
    "asked_for",
    "choose",
    "create",
    "current",
    "set_precision",
]


def create(name: str, device: int = 0) -> Engine:
    """The engine of that name; ``auto`` is the fastest CPU engine that loads.

    Raises:
        MissingPartError: what it needs is not installed, or there is no such device.
        NetError: there is no such engine, or it cannot compute with the precision asked for.
    """
    engine, asked = _create(name, device), os.environ.get(PRECISION)
    return engine.at(_precision(asked)) if asked else engine


def set_precision(name: str) -> None:
    """Let engines that are created from now on, and the one chosen before, compute with this.

    Raises:
        NetError: there is no such precision, or this machine has not got it.
    """
    chosen = chosen_engine() or _create(os.environ.get("PCD_ENGINE", "auto"), 0)
    engine = chosen.at(_precision(name))
    os.environ[PRECISION] = name
    if chosen_engine() is not None:
        set_default_engine(engine)


def _precision(name: str) -> str:
    if name not in PRECISIONS:
        raise NetError(f"there is no precision {name!r}; there are: {', '.join(PRECISIONS)}")
    return name


def _create(name: str, device: int) -> Engine:
    if name == "auto":
        try:
            return _create("onednn", 0)
        except MissingPartError:
            return NUMPY
    if name == "numpy":
        return NUMPY
    if name not in NAMES:
        raise NetError(f"there is no engine {name!r}; the engines are: auto, {', '.join(NAMES)}")
    module = importlib.import_module(f"pycaffe_dist.engines.{name}")
    engine: Engine = module.create(device)
    return engine


def asked_for(name: str | None, device: int | None = None) -> Engine:
    """The engine that a user asks for by its name, if any, and by a GPU, if any.

    A GPU that is missing is an error, but with ``auto``, which then takes the CPU and says so.
    """
    if device is None or name in ("numpy", "onednn"):
        return create(name) if name else current()
    try:
        return create("cupy", device)
    except MissingPartError as e:
        if name != "auto":
            raise
        log.warning("caffe.cpp", "%s Computing on the CPU instead.", e)
        return create("auto")


def choose(name: str, device: int = 0) -> Engine:
    """Let whoever names no engine have this one from now on."""
    engine = create(name, device)
    set_default_engine(engine)
    return engine


def current() -> Engine:
    """The engine of a user who names none: what was chosen, else PCD_ENGINE, else the fastest."""
    return chosen_engine() or create(os.environ.get("PCD_ENGINE", "auto"))
