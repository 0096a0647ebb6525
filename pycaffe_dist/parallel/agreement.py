"""Ranks make sure that they are about to do the same, and later that they have done the same."""

from __future__ import annotations

import platform
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from pycaffe_dist import __file__ as package
from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import PcdError
from pycaffe_dist.layer import Layer
from pycaffe_dist.parallel.plan.plan import Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.collectives import broadcast_object, gather_objects
from pycaffe_dist.parallel.transport.communicator import Communicator, Steps
from pycaffe_dist.parallel.transport.plain import Plain, travels
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import format_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.version import VERSION

# What a rank may have of its own: where files are, and what it computes on.
OWN_OF_SOLVER = ("snapshot_prefix", "device_id", "solver_mode", "net", "train_net", "test_net")
OWN_OF_SETTINGS = ("trace", "stats_path", "net_outputs", "options")
MOST_SHOWN = 8
MOST_PATH = 160  # characters of a value that are shown
MOST_TEXT = 80  # of a setting's value; longer ones are compared and not shown
SAME_START = "All ranks need the same files, data shapes, options, engines and versions."
SAME_WEIGHTS = (
    "All ranks should have the same weights, to the bit: a processor or its memory may be faulty, "
    "or something changes weights on one rank only. The last snapshot was compared and is good"
)


class DisagreementError(PcdError):
    """Ranks that are not about to do the same."""


@travels
@dataclass(frozen=True)
class Checksum:
    """Of something too long to be shown."""

    value: int


def facts(solver: Solver, settings: ClusterSettings, plan: Plan) -> Facts:
    """What must be the same on all ranks, by the name that a user knows it by."""
    param = SolverParameter()
    param.CopyFrom(solver.param)
    for field in OWN_OF_SOLVER:
        param.ClearField(field)
    found: Facts = {
        "the version of pycaffe_dist": VERSION,
        "the code of pycaffe_dist": _code(),
        "the version of Python": ".".join(platform.python_version_tuple()[:2]),
        "the version of NumPy": np.__version__,
        "the BLAS of NumPy": _blas(),
        "the kind of machine": platform.machine(),
        "the engine": solver.context.engine.name,
        "the precision": solver.context.engine.precision,
        "the plan": _checksum(str(plan)),
        "the iteration": solver.iter,
    }
    for setting, value in param.ListFields():
        text = str(np.float32(value) if isinstance(value, float) else value)
        found[f"{setting.name} of the solver"] = text if len(text) < MOST_TEXT else _checksum(text)
    for option, value in {**vars(settings), **settings.scheme_options}.items():
        if option not in OWN_OF_SETTINGS:
            found[f"--{option.replace('_', '-')}"] = str(value)
    for n, net in enumerate([solver.net, *solver.test_nets]):
        which = f" of test net #{n - 1}" if n else ""
        found[f"the number of layers{which or ' of the net'}"] = len(net.layers)
        found |= {f'layer "{layer.name}"{which}': _fields(layer) for layer in net.layers}
    return found


def _fields(layer: Layer) -> dict[str, str]:
    """What a layer's prototxt says, by full names, the shapes of its blobs, what its files hold."""
    found: dict[str, str] = {}
    path: list[str] = []
    for line in format_text(layer.layer_param).splitlines():
        name, _, value = line.strip().partition(": ")
        if name.endswith("{"):
            path.append(name.split()[0])
        elif name == "}":
            path.pop()
        else:
            field = ".".join([*path, name])
            found[field] = f"{found[field]}, {value}" if field in found else value
    shapes = {f"the shape of parameter {i}": str(b.shape) for i, b in enumerate(layer.blobs)}
    return {**found, **shapes, **{name: str(v) for name, v in layer.sources().items()}}


def checksums(solver: Solver) -> Facts:
    """The weights of a rank, by the names of their layers."""
    net = solver.net
    return {
        f'parameter {param.owner[1]} of layer "{net.layer_names[param.owner[0]]}" at iteration '
        f"{solver.iter}": Checksum(zlib.crc32(np.ascontiguousarray(param.blob.data)))
        for param in net.params.learnable
    }


def _checksum(text: str) -> Checksum:
    return Checksum(zlib.crc32(text.encode()))


@cache
def _code() -> int:
    """A checksum of our own source files."""
    folder, crc = Path(str(package)).parent, 0
    for path in sorted(folder.rglob("*.py")):
        crc = zlib.crc32(f"{path.relative_to(folder)}".encode() + path.read_bytes(), crc)
    return crc


def _blas() -> str:
    parts = np.show_config(mode="dicts")["Build Dependencies"]
    return f"{parts['blas'].get('name')} {parts['blas'].get('version')}"


def agree(communicator: Communicator, mine: Facts, remedy: str = SAME_START) -> Steps[None]:
    """Raise on every rank, naming who differs in what, if ``mine`` is not everybody's.

    Checksums go first; the facts themselves are asked for only where those differ.
    """
    sums = {name: _checksum(str(value)) for name, value in mine.items()}
    everybody = yield from gather_objects(communicator, sums)
    names = yield from broadcast_object(communicator, _differing(everybody))
    if names:
        asked = {name: mine[name] for name in names if name in mine}
        everybody = yield from gather_objects(communicator, asked)
        problem = _differences(communicator, everybody) if everybody else []
        problem = yield from broadcast_object(communicator, problem)
        raise DisagreementError(*problem, remedy)


def _differing(everybody: list[Facts]) -> list[str]:
    names = dict.fromkeys(name for facts in everybody for name in facts)
    return [name for name in names if len({facts.get(name) for facts in everybody}) > 1]


def _differences(communicator: Communicator, everybody: list[Facts]) -> list[str]:
    """Who differs from most of the others, or from rank 0 where no side has more."""
    counts = Counter(str(facts) for facts in everybody)
    right = max(range(len(everybody)), key=lambda rank: (counts[str(everybody[rank])], -rank))
    lines = []
    for rank, facts in enumerate(everybody):
        host = communicator.nodes.host(rank)
        for what, there, here in _each(facts, everybody[right]):
            said = _both(there, here, right)
            lines.append(f"rank {rank} on {host} differs from rank {right} in {what}{said}")
    more = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"... and {more} more"] if more > 0 else [])


def _each(facts: Facts, expected: Facts) -> Iterator[tuple[str, Plain, Plain]]:
    """(name, there, here) of what differs; of layers that both have, field by field."""
    for name in dict.fromkeys([*expected, *facts]):
        there, here = facts.get(name), expected.get(name)
        if isinstance(there, dict) and isinstance(here, dict):
            for field, one, other in _each(there, here):
                yield f"{field} of {name}", one, other
        elif there != here:
            yield name, there, here


def _both(there: Plain, here: Plain, right: int) -> str:
    if isinstance(there, Checksum) and isinstance(here, Checksum):
        return ""
    return f": {_shown(there)}, rank {right} has {_shown(here)}"


def _shown(value: Plain) -> str:
    if value is None or isinstance(value, dict):
        return "nothing" if value is None else "one"
    text = str(value)
    return text if len(text) <= MOST_PATH else f"... {text[-MOST_PATH:]}"  # paths differ at the end
