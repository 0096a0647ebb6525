"""A net on clusters of many sizes: speedups, what bounds them, and what a rank needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pycaffe_dist.aliases import Array
from pycaffe_dist.facts import layer_facts, totals
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.cost import MOST_TAKEN, VALUE
from pycaffe_dist.parallel.plan.plan import Plan, make_schedule
from pycaffe_dist.parallel.plan.step import LayerTimes, Schedule, step_seconds
from pycaffe_dist.parallel.plan.units import units
from pycaffe_dist.parallel.schemes.scheme import schemes
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.simulate.hardware import Device, Network
from pycaffe_dist.parallel.simulate.ranks import draw_paces, steps
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import create_rule

NOTICED = 0.02  # of a step: a smaller loss is not what bounds it
KEPT = 0.95  # of the speed with an endless bandwidth
RATES = np.geomspace(1e7, 4e11, 93)  # bits a second that are tried, an eighth of a decade apart


@dataclass(frozen=True)
class Variant:
    """One way to train: what was asked for, under a name for tables and charts.

    Attributes:
        many_to_one: all nodes send to one at a time, as workers do to a parameter server.
    """

    name: str
    settings: ClusterSettings
    many_to_one: bool = False


DENSE = ClusterSettings(comm="dense")
VARIANTS = (
    Variant("dense", replace(DENSE, overlap=False)),
    Variant("dense + DWBP", DENSE),
    Variant("SACP", ClusterSettings()),
    Variant("sharded", ClusterSettings(comm="sharded")),
    Variant("SACP, fp16 wire", ClusterSettings(wire="fp16")),
    Variant("staleness 3", ClusterSettings(staleness=3)),
)
SACP = VARIANTS[2]
SERVER = Variant("parameter server", replace(DENSE, overlap=False), many_to_one=True)


@dataclass(frozen=True)
class Case:
    """What is simulated.

    Attributes:
        net: a dry one will do.
        times: of its layers, in seconds, on one rank.
        ranks_per_core: that share a core, or a device: each has a part of it.
        spread: relative deviation of a rank's computing from step to step.
        slow: how many times slower than the others one rank is.
        count: of simulated steps.
    """

    net: Net
    solver: SolverParameter
    times: LayerTimes
    device: Device
    network: Network
    ranks_per_node: int = 1
    ranks_per_core: int = 1
    spread: float = 0.0
    slow: float = 1.0
    count: int = 24
    seed: int = 1

    def schedule(self, variant: Variant, nodes: int) -> tuple[Plan, Schedule]:
        device, times = self.device.shared(self.ranks_per_core), self.times
        times = times.scaled(self.ranks_per_core)
        links = self.network.links(device, times, nodes, variant.many_to_one)
        ranks = nodes * self.ranks_per_node
        return make_schedule(self.net, variant.settings, ranks, nodes, links, self.solver)

    def paces(self, ranks: int) -> Array:
        return draw_paces(self.count, ranks, self.spread, self.slow, self.seed)

    @property
    def alone(self) -> float:
        """Seconds of a step of one rank without others."""
        one = replace(self, ranks_per_node=1, ranks_per_core=1)
        return 1e-3 * one.schedule(SACP, 1)[0].alone_ms


@dataclass(frozen=True)
class Point:
    """A variant on a number of nodes.

    Attributes:
        speedup: images a second against one rank alone.
        bound: compute, link, exchange work, or slowest rank: whose absence would help most.
        sent: bytes in a step by the rank that sends most.
        memory: bytes of a rank.
        schemes: how many exchanges go by which.
    """

    variant: str
    nodes: int
    ranks: int
    seconds: float
    speedup: float
    bound: str
    sent: int
    memory: int
    schemes: dict[str, int] = field(default_factory=dict)


def simulate(case: Case, variants: Sequence[Variant], nodes: Sequence[int]) -> list[Point]:
    """Every variant on every number of nodes."""
    alone = case.alone
    return [_point(case, variant, n, alone) for variant in variants for n in nodes]


def _point(case: Case, variant: Variant, nodes: int, alone: float) -> Point:
    plan, schedule = case.schedule(variant, nodes)
    paces = case.paces(plan.ranks)
    seconds = float(steps(schedule, paces)[case.count // 2 :].mean())
    by_scheme: dict[str, int] = {}
    for transfer in schedule.transfers:
        by_scheme[transfer.scheme] = by_scheme.get(transfer.scheme, 0) + 1
    return Point(
        variant.name,
        nodes,
        plan.ranks,
        seconds,
        plan.ranks * alone / seconds,
        bound(schedule, seconds, alone),
        plan.bytes,
        memory_of(case, plan),
        by_scheme,
    )


def bound(schedule: Schedule, seconds: float, alone: float) -> str:
    """What a step of so many seconds would lose most by, if it were not there."""
    even = step_seconds(schedule)
    endless = tuple(replace(t, link=t.handling / MOST_TAKEN) for t in schedule.transfers)
    no_link = replace(schedule, transfers=endless)
    losses = {
        "slowest rank": seconds - even,
        "link": even - step_seconds(no_link),
        "exchange work": schedule.compute + schedule.work + schedule.handling - alone,
    }
    worst = max(losses, key=lambda name: losses[name])
    return worst if losses[worst] > NOTICED * seconds else "compute"


def memory_of(case: Case, plan: Plan) -> int:
    """Bytes of blobs, weights, gradients, history and what exchanges keep besides.

    Schemes that update keep a rank's share of the history; factors of all ranks have two slots.
    """
    sums = totals(layer_facts(case.net))
    histories = len(create_rule(case.solver).slots)
    learnable = case.net.params.learnable
    loads = {unit.params: unit.load for unit in units(case.net, max(1, case.solver.iter_size))}
    kept = slots = 0.0
    for entry in plan.entries:
        values = sum(learnable[p].blob.count for p in entry.params)
        scheme = schemes()[entry.scheme]
        kept += histories * values / (plan.ranks if scheme.updates else 1)
        if scheme.factored and entry.params in loads:
            slots += 2 * plan.ranks * loads[entry.params].factors
    activations = sums.train_bytes - 3 * VALUE * sums.params
    return round(activations + VALUE * (2 * sums.params + kept + slots))


def needed_bandwidth(case: Case, variant: Variant, nodes: int) -> float | None:
    """The least bits a second with which a step is KEPT as fast as with an endless bandwidth.

    Ranks are equally fast here: no bandwidth helps against a slow one.  None: more than RATES has.
    """

    def seconds(rate: float) -> float:
        network = replace(case.network, bandwidth=rate)
        return step_seconds(replace(case, network=network).schedule(variant, nodes)[1])

    limit = seconds(1e15) / KEPT
    low, high = 0, len(RATES)  # of the rates that suffice the first is at low or above
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if seconds(RATES[middle]) <= limit else (middle + 1, high)
    return float(RATES[low]) if low < len(RATES) else None
