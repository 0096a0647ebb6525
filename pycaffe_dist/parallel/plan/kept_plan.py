"""A run keeps its plan: sums of another scheme are rounded otherwise, and links measure otherwise.

Every snapshot has the plan among the solver's notes.  A resumed run, with the same
net, ranks and flags, uses it again, so that it continues exactly.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict

from pycaffe_dist.aliases import Facts
from pycaffe_dist.parallel.plan.plan import Entry, Plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.solver import Solver
from pycaffe_dist.version import VERSION

NOTE = "plan"  # of the solver: {"for", "plan"}
# What was asked for and has no part in a plan.
NOT_PLANNED = ("check_every", "stall_timeout", "trace", "stats_path", "net_outputs")


def note_plan(solver: Solver, settings: ClusterSettings, plan: Plan) -> None:
    key = _key(solver, settings, plan.ranks, plan.nodes)
    solver.notes[NOTE] = {"for": key, "plan": asdict(plan)}


def kept_plan(solver: Solver, settings: ClusterSettings, ranks: int, nodes: int) -> Plan | None:
    """The plan among the solver's notes, if it was made for this."""
    note = solver.notes.get(NOTE)
    if note is None or note["for"] != _key(solver, settings, ranks, nodes):
        return None
    facts: Facts = dict(note["plan"])
    entries = [Entry(**{**entry, "params": tuple(entry["params"])}) for entry in facts["entries"]]
    return Plan(**{**facts, "entries": tuple(entries)})


def _key(solver: Solver, settings: ClusterSettings, ranks: int, nodes: int) -> int:
    """A checksum of all that a plan is made from, but for what is measured."""
    net, param = solver.net, solver.param
    learns = [(p.owner, p.blob.shape, p.lr_mult) for p in net.params.learnable]
    asked = {k: v for k, v in vars(settings).items() if k not in NOT_PLANNED}
    if not settings.options:  # snapshots from before schemes had options know of none
        del asked["options"]
    blobs = [blob.shape for blob in net.blobs]
    step = (param.type, param.iter_size, param.clip_gradients)
    engine = solver.context.engine.name
    facts = (VERSION, ranks, nodes, asked, net.layer_names, learns, blobs, step, engine)
    return zlib.crc32(str(facts).encode())
