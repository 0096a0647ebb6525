"""Before the first step all ranks make sure that they are about to do the same."""

from __future__ import annotations

import platform
import zlib
from typing import Any

import numpy as np

from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.collectives import broadcast_object, gather_objects
from pycaffe_dist.parallel.communicator import Communicator, Steps
from pycaffe_dist.parallel.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.version import VERSION

# What a rank may have of its own: where files are, and what it computes on.
OWN_OF_SOLVER = ("snapshot_prefix", "device_id", "solver_mode", "net", "train_net", "test_net")
OWN_OF_SETTINGS = ("trace", "stats_path", "net_outputs")
MOST_SHOWN = 8


class DisagreementError(PcdError):
    """Ranks that are not about to do the same."""


def facts(solver: Solver, settings: ClusterSettings, plan: Plan) -> dict[str, Any]:
    """What must be the same on all ranks, by the name that a user knows it by."""
    param = SolverParameter()
    param.CopyFrom(solver.param)
    for field in OWN_OF_SOLVER:
        param.ClearField(field)
    options = {k: v for k, v in vars(settings).items() if k not in OWN_OF_SETTINGS}
    found: dict[str, Any] = {
        "the version of pycaffe_dist": VERSION,
        "the version of NumPy": np.__version__,
        "the kind of machine": platform.machine(),
        "the solver's settings": _crc(format_text(param)),
        "the options of the cluster": str(options),
        "the plan": _crc(str(plan)),
        "the iteration": solver.iter,
        "the layers of the net": len(solver.net.layers),
    }
    for layer in solver.net.layers:
        shapes = [blob.shape for blob in layer.blobs]
        found[f'layer "{layer.name}"'] = _crc(f"{format_text(layer.layer_param)}{shapes}")
    return found


def _crc(text: str) -> int:
    return zlib.crc32(text.encode())


def agree(communicator: Communicator, mine: dict[str, Any]) -> Steps[None]:
    """Raise on every rank, naming who differs in what, if ``mine`` is not everybody's."""
    everybody = yield from gather_objects(communicator, mine)
    problem = _differences(communicator, everybody) if everybody else ""
    problem = yield from broadcast_object(communicator, problem)
    if problem:
        raise DisagreementError(problem)


def _differences(communicator: Communicator, everybody: list[dict[str, Any]]) -> str:
    lines = []
    for rank, facts in enumerate(everybody):
        for name in dict.fromkeys([*everybody[0], *facts]):
            there, here = facts.get(name), everybody[0].get(name)
            if there != here:
                said = "" if isinstance(here, int) else f": {there}, rank 0 has {here}"
                host = communicator.nodes.host(rank)
                lines.append(f"rank {rank} on {host} differs from rank 0 in {name}{said}")
    if not lines:
        return ""
    more = len(lines) - MOST_SHOWN
    shown = lines[:MOST_SHOWN] + ([f"... and {more} more"] if more > 0 else [])
    return "\n".join([*shown, "All ranks need the same files, data shapes, options and versions."])
