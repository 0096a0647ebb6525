"""Runs of a case: alone with the joint batch, or as ranks that are threads or mpirun's."""

from __future__ import annotations

import atexit
import random
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cluster_fuzz.case import Case
from cluster_fuzz.files import give_arrays, whole_solver_text
from cluster_fuzz.rounding import set_wires
from pycaffe_dist.engines import create
from pycaffe_dist.errors import PcdError
from pycaffe_dist.events import Event, Tested, Updated
from pycaffe_dist.layer import Context, DataSettings
from pycaffe_dist.parallel.cluster import Cluster, distribute
from pycaffe_dist.parallel.exchange import parcel
from pycaffe_dist.parallel.plan import plan
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.plan import Plan, make_plan
from pycaffe_dist.parallel.plan.requests import Requests
from pycaffe_dist.parallel.plan.units import units
from pycaffe_dist.parallel.schemes import sf_push
from pycaffe_dist.parallel.schemes.sharded import SHARDED
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.ssp import items as ssp_items
from pycaffe_dist.parallel.ssp.ssp import Ssp
from pycaffe_dist.parallel.transport import comm_thread, streams
from pycaffe_dist.parallel.transport.communicator import Communicator
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.text import parse_text
from pycaffe_dist.solver import Solver
from pycaffe_dist.testing.mpi_ranks import MpiRanks
from pycaffe_dist.testing.ranks import run_ranks as run_threads

SECONDS = 60  # that a run may take
MPI_RANKS = MpiRanks(5)  # as many as a case may have
atexit.register(MPI_RANKS.close)
building = threading.Lock()  # layers draw from the random numbers of the process


@dataclass
class Result:
    """What one rank has in the end."""

    weights: list[Any] = field(default_factory=list)
    history: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    tests: list[tuple[int, int, list[float]]] = field(default_factory=list)
    schemes: list[str] = field(default_factory=list)
    worst: int = 0


@dataclass(frozen=True)
class Way:
    """How a case is run: the name of its snapshots, from the snapshot on or not, in which type.

    ``rounding`` is what fp16 and bf16 do, see rounding.py; ``draw`` a series of random numbers.
    ``nudged``: the first weights have other last bits.
    """

    prefix: str
    resume: bool = False
    double: bool = True
    engine: str = "numpy"
    rounding: str = "wire"
    draw: int = 0
    nudged: bool = False


class Ahead(Exception):
    """A rank that is further ahead of another than the staleness allows."""


def prepare(case: Case, way: Way | None = None) -> None:
    """Small sizes, so that small nets take the ways of large ones; and how wires round."""
    set_wires(way.rounding, way.draw) if way else set_wires("wire")
    comm_thread.go_before = lambda thread: None  # there are more ranks than cores
    usual = tuple(1 << n for n in (16, 18, 20, 22, 24)), 1 << 20
    plan.BUCKETS, plan.USUAL_BUCKET = ((case.bucket,), case.bucket) if case.bucket else usual
    SHARDED.least_bytes = case.sharded_from
    streams.CHUNK = ssp_items.CHUNK = case.chunk
    parcel.BLOCK = sf_push.BLOCK = 4 * case.chunk


def build(case: Case, folder: Path, rank: int, ranks: int, way: Way) -> Solver:
    """A solver with the weights of the seed; other ranks than 0 get wrong ones."""
    text = whole_solver_text(case, folder, ranks, way.prefix)
    param = parse_text(text, SolverParameter()).message
    dtype = np.float64 if way.double else np.float32
    with building:
        data = DataSettings(shuffle_seed=case.seed if case.shuffle else None)
        context = Context(dtype, create(way.engine), rank=rank, ranks=ranks, data=data)
        solver = Solver(param, context)
    rng = np.random.default_rng(case.seed + 1000 * rank)
    for learnable in solver.net.params.learnable:
        blob, layer = learnable.blob, solver.net.layers[learnable.owner[0]]
        follows = layer.statistics() if layer.follows_batches else []
        if not any(blob is statistic for statistic in follows):
            many = blob.count / blob.shape[0] if len(blob.shape) > 1 else 9
            blob.data[...] = rng.standard_normal(blob.shape) / many**0.5
            if way.nudged:
                away = np.random.default_rng(case.seed).choice([-np.inf, np.inf], blob.shape)
                blob.data[...] = np.nextafter(blob.data, away)
    if case.source == "MemoryData":
        give_arrays(case, solver, rank, ranks)
    return solver


def train(case: Case, folder: Path, communicator: Communicator | None, way: Way) -> Result:
    """Train as one rank of a communicator, or alone with the joint batch if there is none."""
    rank, ranks = (communicator.rank, communicator.size) if communicator else (0, 1)
    solver = build(case, folder, rank, ranks, way)
    result = Result()

    def listen(event: Event) -> None:
        if isinstance(event, Updated):
            result.losses.append(float(event.loss))
        elif isinstance(event, Tested):
            values = [o.value for o in event.outputs]
            result.tests.append((event.iteration, event.net, values))

    solver.subscribers.append(listen)
    if communicator is None:
        if case.settings["sum_updates"]:
            solver.on_gradients_ready.append(lambda: _multiply(solver, case.ranks))
        _steps(case, folder, solver, way)
    else:
        settings = cluster_settings(case, solver)
        made = plan_of(case, solver, settings, communicator)
        result.schemes = sorted({entry.scheme for entry in made.entries})
        with distribute(solver, settings, communicator, made) as cluster:
            watch_bound(case, way.prefix, solver, cluster)
            _steps(case, folder, solver, way)
            result.worst = getattr(cluster.stepper, "worst", 0)
    learnable, names = solver.net.params.learnable, solver.net.layer_names
    result.weights = [p.blob.data.copy() for p in learnable]
    result.history = [h.data.copy() for h in solver.history]
    result.names = [f"{names[p.owner[0]]}[{p.owner[1]}]" for p in learnable]
    return result


def _steps(case: Case, folder: Path, solver: Solver, way: Way) -> None:
    if way.resume:
        end = ".h5" if "HDF5" in case.solver else ""
        solver.restore(f"{folder}/ranks_iter_{case.snapshot}.solverstate{end}")
    if not case.pieces:
        solver.step(case.steps - solver.iter)
    while solver.iter < case.steps:
        solver.step(1)
        if case.pieces == "look" and solver.iter != case.snapshot:
            solver.net.forward()
            solver.net.backward()


def _multiply(solver: Solver, factor: int) -> None:
    """--sum-updates: the gradient is that of all ranks together, and not their mean."""
    for learnable in solver.net.params.learnable:
        learnable.blob.diff[...] *= factor


def cluster_settings(case: Case, solver: Solver) -> ClusterSettings:
    """The settings, without what is refused for a layer."""
    plain = {k: v for k, v in case.settings.items() if k != "comm_layer"}
    clips, layers = solver.param.clip_gradients >= 0, {}
    for name, comm in case.settings.get("comm_layer", {}).items():
        tried = ClusterSettings(**plain, comm_layer={**layers, name: comm})
        try:
            learns = units(solver.net, solver.param.iter_size)
            Requests(solver.net, learns, tried, "it clips" if clips else "", case.ranks)
        except PcdError:
            continue
        layers[name] = comm
    return ClusterSettings(**plain, comm_layer=layers, stall_timeout=0)


def plan_of(
    case: Case, solver: Solver, settings: ClusterSettings, communicator: Communicator
) -> Plan:
    links = Links(AlphaBeta(1e-4, case.seconds_a_byte), AlphaBeta(1e-6, 1e-10), 1e10, 1e10)
    nodes = communicator.nodes.count
    return make_plan(solver.net, settings, communicator.size, nodes, links, solver.param)


DONE: dict[tuple[int, str], dict[int, Any]] = {}  # by run and rank: what knows how far a rank is


def watch_bound(case: Case, prefix: str, solver: Solver, cluster: Cluster) -> None:
    """Compare, at every layer that learns, how far ranks are; each has hiccups."""
    ssp = cluster.stepper
    if not isinstance(ssp, Ssp) or case.via != "threads":
        return
    rank, bound = cluster.rank, case.settings["staleness"]
    done = DONE.setdefault((case.seed, prefix), {})
    done[rank] = ssp
    hiccup = random.Random(case.seed + rank)

    def look(layer: int) -> None:
        if layer == 0 and hiccup.random() < 0.3:
            time.sleep(0.01)
        if not solver.net.params.ids[layer] or not ssp._steps or len(done) < cluster.size:
            return
        ahead = ssp._mail.done - min(other._mail.done for other in done.values())
        if ahead > bound and ssp._uses[layer]:
            raise Ahead(f"rank {rank} is {ahead} iterations ahead of another, {bound} are allowed")

    solver.net.after_forward.append(look)


def run_ranks(case: Case, folder: Path, hosts: list[str], way: Way) -> list[Result]:
    """What all ranks have in the end."""
    if len(hosts) == 1:
        return [train(case, folder, None, way)]
    if case.via == "threads":
        prepare(case, way)
        return run_threads(hosts, lambda c: train(case, folder, c, way), SECONDS)
    return MPI_RANKS.run(hosts, partial(as_rank, case, folder, way), 3 * SECONDS)


def as_rank(case: Case, folder: Path, way: Way, communicator: Communicator) -> Result:
    """What a rank of mpirun does."""
    prepare(case, way)
    return train(case, folder, communicator, way)
