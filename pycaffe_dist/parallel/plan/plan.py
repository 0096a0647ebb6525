"""SACP: which scheme carries each parameter's gradient, and in which order exchanges start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.cost import (
    VALUE,
    WIRE_BYTES,
    Cluster,
    Cost,
    Job,
    Load,
    layer_times,
    step_seconds,
)
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.requests import DENSE, FACTORED, SCHEMES, STALE, UPDATING, asked
from pycaffe_dist.parallel.plan.units import Unit, halves, units
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.plain import travels
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import create_rule
from pycaffe_dist.solvers.update import waits

# Bytes from which a bucket is full; the measured policy takes the best.
BUCKETS = (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
USUAL_BUCKET = 1 << 20
SHARDED_FROM = 1 << 20  # bytes; below, a smaller update does not pay for an exchange of its own
VISIBLE = 0.1  # of the time on the link that overlap should hide and, in practice, does not
WORTHWHILE = 1e-3  # of a step that has to be gained before a scheme is changed


@travels
@dataclass(frozen=True)
class Entry:
    """The exchange of one parameter, or of a layer's weights and bias together.

    Attributes:
        params: indices into ``net.params.learnable``.
        layer: the gradient is complete after this layer's backward, the lowest of its sharers.
        scheme: one of SCHEMES, or of STALE.
        bucket: entries of an equal number travel together, after the lowest of their layers.
        bytes: sent to other nodes in a step by the rank that sends most.
        ms: expected, on a link and a rank that do nothing else; its share of a bucket.
    """

    params: tuple[int, ...]
    layer: int
    scheme: str
    bucket: int | None
    bytes: int
    ms: float
    reason: str


@travels
@dataclass(frozen=True)
class Plan:
    """Every exchange of a step, in the order in which they start."""

    entries: tuple[Entry, ...]
    ranks: int
    nodes: int
    policy: str
    wire: str
    alone_ms: float  # expected of a rank that exchanges nothing: forward, backward, update
    step_ms: float  # expected with the exchanges

    @property
    def bytes(self) -> int:
        """Sent in a step by a rank that is the busiest in every exchange."""
        return sum(entry.bytes for entry in self.entries)


def make_plan(
    net: Net,
    settings: ClusterSettings,
    ranks: int,
    nodes: int,
    links: Links,
    solver: SolverParameter | None = None,
) -> Plan:
    """Choose a scheme for everything that learns.

    Args:
        net: the training net; a dry one will do.
        settings: what was asked for.
        ranks: workers, each with the net's batch.
        nodes: hosts that the ranks are spread over evenly.
        links: measured or stated.
        solver: its iter_size, clip_gradients and type count.

    Raises:
        NetError: a scheme is asked of a layer that cannot use it.
    """
    return _Planner(net, settings, ranks, nodes, links, solver or SolverParameter()).plan()


@dataclass(frozen=True)
class _Choice:
    """A unit with its scheme."""

    unit: Unit
    scheme: str
    reason: str


@dataclass(frozen=True)
class _Group:
    """What takes the link at once: one choice, or a bucket of dense ones."""

    choices: tuple[_Choice, ...]

    @property
    def scheme(self) -> str:
        return self.choices[0].scheme

    @property
    def layer(self) -> int:
        return min(c.unit.layer for c in self.choices)

    @property
    def load(self) -> Load:
        if len(self.choices) == 1:
            return self.choices[0].unit.load
        return Load(sum(c.unit.load.values for c in self.choices))


class _Planner:
    def __init__(
        self,
        net: Net,
        settings: ClusterSettings,
        ranks: int,
        nodes: int,
        links: Links,
        solver: SolverParameter,
    ) -> None:
        self.net, self.settings = net, settings
        if not 1 <= nodes <= ranks:
            raise NetError(f"{ranks} ranks cannot be spread over {nodes} nodes")
        rule = create_rule(solver)
        self.stale = settings.staleness > 0
        links = _within_budget(links, settings)
        wire = WIRE_BYTES[settings.wire]
        self.cluster = Cluster(ranks, nodes, links, wire, rule.histories, self.stale)
        self.times = layer_times(net, links)
        self.waits = waits(solver, rule)
        if self.stale and self.waits and solver.clip_gradients < 0:
            raise NetError(f"--staleness is not possible: {self.waits}; leave it out")
        self.passes = max(1, solver.iter_size)
        # Clipping counts gradients of frozen parameters, and most rules remember them: as in Caffe.
        frozen = (solver.clip_gradients >= 0 or rule.remembers_gradients) and not self.stale
        self.units = units(net, self.passes, frozen)
        self.asked = asked(net, self.units, settings, self.waits)

    def plan(self) -> Plan:
        """Schemes first, then buckets."""
        policy = self.settings.policy
        schemes = self._paper() if policy == "paper" else self._measured()
        limit = USUAL_BUCKET if policy == "paper" else self._best_limit(schemes)
        choices = [
            _Choice(unit, scheme, self._reason(unit, scheme))
            for unit, scheme in zip(self.units, schemes, strict=True)
        ]
        groups = self._groups(choices, limit)
        update = sum(self.cluster.update(unit.load.values) for unit in self.units)
        return Plan(
            self._entries(groups),
            self.cluster.ranks,
            self.cluster.nodes,
            policy,
            self.settings.wire,
            alone_ms=1e3 * (self.passes * self.times.total + update),
            step_ms=1e3 * self._step(groups)[0],
        )

    # -- policies ----------------------------------------------------------------------------

    def _options(self, unit: Unit) -> tuple[str, ...]:
        """The schemes that a policy may choose from."""
        asked = self.asked[unit]
        if unit.frozen:
            return ("allreduce",)
        if self.stale:
            return self._stale_options(unit, asked)
        if asked in DENSE or (asked in FACTORED and not unit.no_factors):
            return (asked,)
        if self.cluster.ranks == 1 or asked in FACTORED:
            return ("allreduce",)
        dense = unit.no_factors or unit.varies or asked == "dense"
        options = list(DENSE if dense else SCHEMES)
        if not _pays_alone(unit):
            options.remove("sharded")
        return tuple(o for o in options if not (self.waits and o in UPDATING))

    def _stale_options(self, unit: Unit, asked: str) -> tuple[str, ...]:
        dense, factored = STALE
        if unit.no_factors or self.cluster.ranks == 1 or asked in (*DENSE, "dense"):
            return (dense,)
        if asked in FACTORED:
            return (factored,)
        return (dense,) if unit.varies else STALE

    def _paper(self) -> list[str]:
        """Poseidon's rule: SFB where 2K(P-1)(M+N) <= 2MN(P+P-2)/P, as every rank also serves."""
        schemes = []
        for unit in self.units:
            options = self._options(unit)
            sfb = "sfb" in options and _sfb_wins(unit, self.cluster)
            schemes.append("sfb" if sfb else options[0])
        return schemes

    def _measured(self) -> list[str]:
        """The shortest expected step: what is cheapest alone, then one change after another.

        A scheme that is cheapest alone may make the step longer, as its work is never hidden and
        another's bytes may be.  The largest are tried first, until no change is worthwhile.
        """
        schemes = [self._cheapest(unit) for unit in self.units]
        limit = self._best_limit(schemes)
        best = self._score(schemes, limit)
        order = sorted(range(len(schemes)), key=lambda i: -self.units[i].load.values)
        improved = True
        while improved:
            improved = False
            for i in order:
                for scheme in self._options(self.units[i]):
                    if scheme == schemes[i]:
                        continue
                    tried = [*schemes[:i], scheme, *schemes[i + 1 :]]
                    score = self._score(tried, limit)
                    if score < best * (1 - WORTHWHILE):
                        schemes, best, improved = tried, score, True
        return schemes

    def _cheapest(self, unit: Unit) -> str:
        """Of an all-reduce and the schemes that send something else."""
        options = [o for o in self._options(unit) if o != "sharded"] or ["sharded"]
        return min(options, key=lambda option: self.cluster.cost(option, unit.load).seconds)

    def _best_limit(self, schemes: Sequence[str]) -> int:
        return min(BUCKETS, key=lambda limit: self._score(schemes, limit))

    def _score(self, schemes: Sequence[str], limit: int) -> float:
        choices = [_Choice(u, s, "") for u, s in zip(self.units, schemes, strict=True)]
        step, link = self._step(self._groups(choices, limit))
        return step + VISIBLE * link

    def _step(self, groups: Sequence[_Group]) -> tuple[float, float]:
        """Expected seconds of a step, and of all its exchanges on the link."""
        costs = [self.cluster.cost(group.scheme, group.load) for group in groups]
        jobs = [Job(p.layer, c.link, c.work) for p, c in zip(groups, costs, strict=True)]
        step = step_seconds(
            self.times,
            jobs,
            overlap=self.settings.overlap,
            barrier=bool(self.waits),
            stale=self.stale,
            passes=self.passes,
        )
        return step, sum(cost.link for cost in costs)

    # -- buckets and entries -----------------------------------------------------------------

    def _groups(self, choices: Sequence[_Choice], limit: int) -> list[_Group]:
        """In the order in which they start; dense gradients below ``limit`` are put together."""
        groups: list[_Group] = []
        bucket: list[_Choice] = []
        for choice in choices:
            if choice.scheme in FACTORED:
                groups.append(_Group((choice,)))
                continue
            for i, unit in enumerate(halves(self.net, choice.unit)):
                half = replace(choice, unit=unit, reason="a bias" if i else choice.reason)
                small = self.asked[choice.unit] != "sharded" and not _pays_alone(unit)
                if half.scheme == "sharded" and small:
                    half = replace(half, scheme="allreduce")
                if half.scheme == "sharded" or VALUE * unit.load.values >= limit:
                    groups.append(_Group((half,)))
                    continue
                bucket.append(half)
                if VALUE * sum(c.unit.load.values for c in bucket) >= limit:
                    groups.append(_Group(tuple(bucket)))
                    bucket = []
        if bucket:
            groups.append(_Group(tuple(bucket)))
        return sorted(groups, key=lambda group: -group.layer)

    def _entries(self, groups: Sequence[_Group]) -> tuple[Entry, ...]:
        entries = []
        buckets = 0
        for group in groups:
            cost = self.cluster.cost(group.scheme, group.load)
            together = len(group.choices) > 1
            sent = 0
            for i, choice in enumerate(group.choices, 1):
                share = choice.unit.load.values / group.load.values
                end = cost.bytes if i == len(group.choices) else sent + round(cost.bytes * share)
                entries.append(
                    Entry(
                        choice.unit.params,
                        choice.unit.layer,
                        choice.scheme,
                        buckets if together else None,
                        end - sent,
                        1e3 * cost.seconds * share,
                        choice.reason,
                    )
                )
                sent = end
            buckets += together
        return tuple(entries)

    def _reason(self, unit: Unit, scheme: str) -> str:
        if self.cluster.ranks == 1:
            return "one rank"
        options = self._options(unit)
        if self.asked[unit] == scheme or (scheme in FACTORED and len(options) == 1):
            return "asked for"
        if len(options) == 1:
            return unit.no_factors or unit.varies or "asked for dense"
        if self.settings.policy == "paper":
            if "sfb" not in options:
                return unit.no_factors or unit.varies or "asked for dense"
            sfb, dense = _paper_floats(unit, self.cluster)
            sign = "<=" if scheme == "sfb" else ">"
            return f"2K(P-1)(M+N) {sfb / 1e6:.3g}M {sign} {dense / 1e6:.3g}M 4MN(P-1)/P"
        costs = {option: self.cluster.cost(option, unit.load) for option in options}
        mine = costs.pop(scheme)
        others = (f"{other} {_parts(cost)}" for other, cost in costs.items())
        return f"link + work {_parts(mine)} ms; {', '.join(others)}"


def _pays_alone(unit: Unit) -> bool:
    return VALUE * unit.load.values >= SHARDED_FROM


def _parts(cost: Cost) -> str:
    return " + ".join(
        f"{ms:.0f}" if (ms := 1e3 * s) >= 100 else f"{ms:.2g}" for s in (cost.link, cost.work)
    )


def _within_budget(links: Links, settings: ClusterSettings) -> Links:
    """A bandwidth budget makes the link between nodes that slow, if it is not already."""
    if not settings.bandwidth:
        return links
    alpha, beta = links.between.alpha, links.between.beta
    return replace(links, between=AlphaBeta(alpha, max(beta, 8 / settings.bandwidth)))


def _paper_floats(unit: Unit, cluster: Cluster) -> tuple[float, float]:
    """Floats that SFB, and that servers on all ranks, send and receive."""
    load, p = unit.load, cluster.ranks
    return (
        2 * load.factors * (p - 1),
        2 * load.outputs * load.inputs * (2 * p - 2) / p,
    )


def _sfb_wins(unit: Unit, cluster: Cluster) -> bool:
    sfb, dense = _paper_floats(unit, cluster)
    return sfb <= dense
