"""Flags that name what would be trained, for verbs that do not train."""

from __future__ import annotations

import argparse

from pycaffe_dist.cli._flags import add_look, add_state, flag
from pycaffe_dist.tools.plan import Training


def add_training(p: argparse.ArgumentParser) -> None:
    net = p.add_argument_group("the net")
    flag(net, "solver", required=True, metavar="FILE", help="the solver's prototxt")
    flag(net, "set", action="append", default=[], metavar="NAME=VALUE", help="a solver's setting")
    flag(net, "batch", type=int, metavar="K", help="in place of the net's batch size")
    add_state(net)
    add_look(net)


def training_of(args: argparse.Namespace) -> Training:
    return Training(args.solver, args.batch, args.level, args.stage, args.set, args.allow_python)
