"""Engines: where a net computes.  Each brings its memory and its faster layers."""

from __future__ import annotations

import importlib
import os

from pycaffe_dist.engines.base import NUMPY, Engine, chosen_engine, set_default_engine
from pycaffe_dist.errors import MissingPartError, NetError

NAMES = ("numpy", "onednn", "cupy")

__all__ = ["NAMES", "NUMPY", "Engine", "choose", "create", "current"]


def create(name: str, device: int = 0) -> Engine:
    """The engine of that name; ``auto`` is the fastest CPU engine that loads.

    Raises:
        MissingPartError: what it needs is not installed, or there is no such device.
    """
    if name == "auto":
        try:
            return create("onednn")
        except MissingPartError:
            return NUMPY
    if name == "numpy":
        return NUMPY
    if name not in NAMES:
        raise NetError(f"there is no engine {name!r}; the engines are: auto, {', '.join(NAMES)}")
    module = importlib.import_module(f"pycaffe_dist.engines.{name}")
    engine: Engine = module.create(device)
    return engine


def choose(name: str, device: int = 0) -> Engine:
    """Let whoever names no engine have this one from now on."""
    engine = create(name, device)
    set_default_engine(engine)
    return engine


def current() -> Engine:
    """The engine of a user who names none: what was chosen, else PCD_ENGINE, else the fastest."""
    return chosen_engine() or create(os.environ.get("PCD_ENGINE", "auto"))
