"""Flags in gflags' spellings: ``-f v``, ``--f v``, ``-f=v``, ``--f=v``."""

from __future__ import annotations

import argparse
from typing import Any

from pycaffe_dist import engines
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.optional import install_command
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
    """Let this process compute with the engine and the threads that were asked for."""
    if args.engine:
        engines.choose(args.engine)
    set_threads(args.threads)


def refuse_gpu(asked: bool) -> None:
    """Say in one line that there is no GPU engine yet."""
    if asked:
        raise MissingPartError(
            "a GPU was asked for, but this version computes on the CPU only. Leave -gpu out, or "
            "write solver_mode: CPU. CuPy, for versions that use it, comes with: "
            + install_command("gpu")
        )
