"""Flags in gflags' spellings: ``-f v``, ``--f v``, ``-f=v``, ``--f=v``."""

from __future__ import annotations

import argparse
from typing import Any

from pycaffe_dist import engines
from pycaffe_dist.engines.base import set_default_engine
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.threads import set_threads


def parser(verb: str, doc: str | None) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"pcd {verb}",
        description=doc,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def flag(where: Any, name: str, **settings: Any) -> None:
    """Add a flag under one dash and under two."""
    dashed = name.replace("_", "-")
    names = [f"-{name}", f"--{name}"] + ([f"--{dashed}"] if dashed != name else [])
    where.add_argument(*names, dest=name, **settings)


def add_state(where: Any) -> None:
    flag(where, "level", type=int, default=0, help="level of the net's state")
    flag(where, "stage", default="", help="stages of the net's state, separated by commas")


def add_gpu(where: Any) -> None:
    flag(where, "gpu", default="", metavar="IDS", help="GPUs: 0, or 0,1, or all")


def add_engine(where: Any) -> None:
    names = ("auto", *engines.NAMES)
    flag(where, "engine", choices=names, help="where to compute; auto: the fastest CPU engine")
    flag(where, "threads", type=int, metavar="N", help="that compute; cores / ranks on the node")


def use_engine(args: argparse.Namespace) -> None:
    """Let this process compute with the engine, or the GPU, and the threads that were asked for."""
    if args.engine or args.gpu:
        device = devices(args.gpu, args.engine)[0] if args.gpu else None
        set_default_engine(engines.asked_for(args.engine, device))
    set_threads(args.threads)


def devices(text: str, engine: str | None = None) -> list[int]:
    """The GPUs that ``-gpu`` names; with ``--engine auto`` it does not matter if there are none."""
    from pycaffe_dist.engines.cupy import device_ids  # needed by few, and slow to import

    try:
        return device_ids(text)
    except MissingPartError:
        if engine != "auto":
            raise
        return [0]


def use_gpu(asked: bool, device: int = 0) -> None:
    """Compute on a GPU, for tools that ask for one by a word instead of a number."""
    if asked:
        engines.choose("cupy", device)
