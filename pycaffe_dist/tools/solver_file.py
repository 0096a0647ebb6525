"""What is wrong with a solver before anything is built: one verdict for check, train and plan."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pycaffe_dist.errors import FileError, NetError
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.nets import SolverNet, test_nets, train_net
from pycaffe_dist.solvers.policies import NEEDS, policy_problems
from pycaffe_dist.tools.inputs import not_there


def check_to_train(path: str, solver: SolverParameter) -> None:
    """Raise with all that keeps a solver from training.

    Raises:
        NetError: a setting is missing or makes no sense.
        FileError: a net or the folder for snapshots is not there.
    """
    problems = settings_problems(solver)
    if problems:
        raise NetError(*(f"{path}: {text}" for text in problems))
    check_nets(path, [train_net(solver), *test_nets(solver)])
    problems = folder_problems(path, solver)
    if problems:
        raise FileError(*problems)


def check_nets(path: str, nets: Sequence[SolverNet]) -> None:
    """Raise if the file of one of a solver's nets is not there."""
    problems = dict.fromkeys(text for net in nets if (text := missing_net(path, net)))
    if problems:
        raise FileError(*problems)


def settings_problems(solver: SolverParameter) -> list[str]:
    """What is wrong with the settings of a solver that is to train by itself.

    (A script that calls ``step`` needs no max_iter.)
    """
    problems = policy_problems(solver) or [
        f'lr_policy "{solver.lr_policy}" needs {name}'
        for name in NEEDS[solver.lr_policy]
        if not _given(solver, name)
    ]
    if not solver.HasField("base_lr"):
        problems.append("base_lr is missing: with a rate of 0 nothing would be learned")
    elif solver.base_lr < 0:
        problems.append(f"base_lr is {solver.base_lr:g}; a learning rate is 0 or more")
    if not solver.HasField("max_iter"):
        problems.append("max_iter is missing: training would end at once")
    elif solver.max_iter < 0:
        problems.append(f"max_iter is {solver.max_iter}; it is 0 or more")
    if solver.type in ("AdaGrad", "RMSProp") and solver.momentum:
        problems.append(f'momentum cannot be used with type "{solver.type}"; leave it out')
    return problems


def missing_net(path: str, net: SolverNet) -> str:
    """That the file of one of a solver's nets is not there; "" if it is, or if there is none."""
    if not isinstance(net.source, str) or os.path.exists(net.source):
        return ""
    return f"{path}: {net.role} {not_there(net.source, path)}"


def folder_problems(path: str, solver: SolverParameter) -> list[str]:
    """That the folder is not there into which a solver would write snapshots."""
    folder = os.path.dirname(solver.snapshot_prefix)
    writes = solver.snapshot or solver.snapshot_after_train
    if not writes or not folder or os.path.exists(folder):
        return []
    name = f'the folder of snapshot_prefix "{solver.snapshot_prefix}"'
    return [f"{path}: " + not_there(folder, path, name, ": make it, or use --run-dir")]


def _given(solver: SolverParameter, name: str) -> bool:
    if name in ("stepvalue", "plateau_winsize", "stagelr", "stageiter"):
        return len(getattr(solver, name)) > 0
    return solver.HasField(name)
