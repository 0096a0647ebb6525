"""SACP: which scheme carries each parameter's gradient, and in which order exchanges start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.buckets import Choice, Group, grouped
from pycaffe_dist.parallel.plan.cost import WIRE_BYTES, Cost, CostModel
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links
from pycaffe_dist.parallel.plan.requests import Requests
from pycaffe_dist.parallel.plan.step import Schedule, Transfer, layer_times, step_seconds
from pycaffe_dist.parallel.plan.units import Unit, units
from pycaffe_dist.parallel.schemes.scheme import Scheme, selectable
from pycaffe_dist.parallel.schemes.sfb import SFB
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.transport.plain import travels
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.solvers.rules import create_rule
from pycaffe_dist.solvers.update import waits

# Bytes from which a bucket is full; the measured policy takes the best.
BUCKETS = (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24)
USUAL_BUCKET = 1 << 20
VISIBLE = 0.1  # of the time on the link that overlap should hide and, in practice, does not
WORTHWHILE = 1e-3  # of a step that has to be gained before a scheme is changed


@travels
@dataclass(frozen=True)
class Entry:
    """The exchange of one parameter, or of a layer's weights and bias together.

    Attributes:
        params: indices into ``net.params.learnable``.
        layer: the gradient is complete after this layer's backward, the lowest of its sharers.
        scheme: the name of one.
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


def together(entries: tuple[Entry, ...]) -> list[list[Entry]]:
    """Entries by what travels together: those of a bucket, or one."""
    found: dict[tuple[str, int], list[Entry]] = {}
    for i, entry in enumerate(entries):
        key = ("alone", i) if entry.bucket is None else ("bucket", entry.bucket)
        found.setdefault(key, []).append(entry)
    return list(found.values())


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
    return _Planner(net, settings, ranks, nodes, links, solver or SolverParameter()).plan()[0]


def make_schedule(
    net: Net,
    settings: ClusterSettings,
    ranks: int,
    nodes: int,
    links: Links,
    solver: SolverParameter | None = None,
) -> tuple[Plan, Schedule]:
    """The plan, and what it makes of a rank's step: for those who run the step in thought."""
    return _Planner(net, settings, ranks, nodes, links, solver or SolverParameter()).plan()


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
        self.model = CostModel(
            ranks, nodes, links, wire, len(rule.slots), self.stale, settings.scheme_options
        )
        self.times = layer_times(net, links)
        scales = net.context.engine.scales_loss(net)
        if scales:
            _check_with_fp16(settings)
        self.waits = waits(solver, rule, scales)
        if self.stale and self.waits and (scales or solver.clip_gradients < 0):
            raise NetError(f"--staleness is not possible: {self.waits}; leave it out")
        self.passes = max(1, solver.iter_size)
        # Clipping counts gradients of frozen parameters, and most rules remember them: as in Caffe.
        frozen = (solver.clip_gradients >= 0 or rule.remembers_gradients) and not self.stale
        self.units = units(net, self.passes, frozen)
        self.requests = Requests(net, self.units, settings, self.waits, ranks)
        self.options = [self.requests.options(unit) for unit in self.units]

    def plan(self) -> tuple[Plan, Schedule]:
        """Schemes first, then buckets."""
        policy = self.settings.policy
        schemes = self._paper() if policy == "paper" else self._measured()
        limit = USUAL_BUCKET if policy == "paper" else self._best_limit(schemes)
        reasons = [self._reason(i, scheme) for i, scheme in enumerate(schemes)]
        groups = self._groups(schemes, limit, reasons)
        update = sum(self.model.update(unit.load.values) for unit in self.units)
        schedule = self._schedule(groups)
        plan = Plan(
            self._entries(groups),
            self.model.ranks,
            self.model.nodes,
            policy,
            self.settings.wire,
            alone_ms=1e3 * (schedule.compute + update),
            step_ms=1e3 * step_seconds(schedule),
        )
        return plan, schedule

    # -- policies ----------------------------------------------------------------------------

    def _paper(self) -> list[Scheme]:
        """Poseidon's rule: SFB where 2K(P-1)(M+N) <= 2MN(P+P-2)/P, as every rank also serves."""
        chosen = []
        for unit, options in zip(self.units, self.options, strict=True):
            sfb, dense = self._paper_floats(unit)
            wins = SFB in options.schemes and sfb <= dense
            chosen.append(SFB if wins else options.schemes[0])
        return chosen

    def _paper_floats(self, unit: Unit) -> tuple[float, float]:
        """Floats that SFB, and that servers on all ranks, send and receive."""
        load, p = unit.load, self.model.ranks
        return (
            2 * load.factors * (p - 1),
            2 * load.outputs * load.inputs * (2 * p - 2) / p,
        )

    def _measured(self) -> list[Scheme]:
        """The shortest expected step: what is cheapest alone, then one change after another.

        A scheme that is cheapest alone may make the step longer, as its work is never hidden and
        another's bytes may be.  The largest are tried first, until no change is worthwhile.
        """
        chosen = [self._cheapest(i) for i in range(len(self.units))]
        limit = self._best_limit(chosen)
        best = self._score(chosen, limit)
        order = sorted(range(len(chosen)), key=lambda i: -self.units[i].load.values)
        improved = True
        while improved:
            improved = False
            for i in order:
                for scheme in self.options[i].schemes:
                    if scheme is chosen[i]:
                        continue
                    tried = [*chosen[:i], scheme, *chosen[i + 1 :]]
                    score = self._score(tried, limit)
                    if score < best * (1 - WORTHWHILE):
                        chosen, best, improved = tried, score, True
        return chosen

    def _cheapest(self, i: int) -> Scheme:
        """To begin with; schemes that pay only for large ones, as sharded, are tried later."""
        options = self.options[i].schemes
        first = [scheme for scheme in options if not scheme.least_bytes] or options
        load = self.units[i].load
        return min(first, key=lambda scheme: scheme.cost(self.model, load).seconds)

    def _best_limit(self, chosen: Sequence[Scheme]) -> int:
        return min(BUCKETS, key=lambda limit: self._score(chosen, limit))

    def _score(self, chosen: Sequence[Scheme], limit: int) -> float:
        schedule = self._schedule(self._groups(chosen, limit))
        return step_seconds(schedule) + VISIBLE * schedule.link

    def _schedule(self, groups: Sequence[Group]) -> Schedule:
        return Schedule(
            self.times,
            tuple(self._transfer(group) for group in groups),
            overlap=self.settings.overlap,
            barrier=bool(self.waits),
            staleness=self.settings.staleness,
            passes=self.passes,
        )

    def _transfer(self, group: Group) -> Transfer:
        cost = group.scheme.cost(self.model, group.load)
        name = self.net.layer_names[group.layer]
        scheme = group.scheme.name
        return Transfer(group.layer, cost.link, cost.work, cost.bytes, name, scheme, cost.handling)

    # -- buckets and entries -----------------------------------------------------------------

    def _groups(
        self, chosen: Sequence[Scheme], limit: int, reasons: Sequence[str] | None = None
    ) -> list[Group]:
        texts = reasons or [""] * len(chosen)
        choices = map(Choice, self.units, chosen, texts)
        return grouped(self.net, list(choices), self.requests, limit)

    def _entries(self, groups: Sequence[Group]) -> tuple[Entry, ...]:
        entries = []
        buckets = 0
        for group in groups:
            cost = group.scheme.cost(self.model, group.load)
            together = len(group.choices) > 1
            sent = 0
            for i, choice in enumerate(group.choices, 1):
                share = choice.unit.load.values / max(1, group.load.values)
                end = cost.bytes if i == len(group.choices) else sent + round(cost.bytes * share)
                entries.append(
                    Entry(
                        choice.unit.params,
                        choice.unit.layer,
                        choice.scheme.name,
                        buckets if together else None,
                        end - sent,
                        1e3 * cost.seconds * share,
                        choice.reason,
                    )
                )
                sent = end
            buckets += together
        return tuple(entries)

    def _reason(self, i: int, scheme: Scheme) -> str:
        options, unit = self.options[i], self.units[i]
        if self.model.ranks == 1 or len(options.schemes) == 1:
            return options.why
        if self.settings.policy == "paper":
            if SFB not in options.schemes:
                return options.why
            sfb, dense = self._paper_floats(unit)
            sign = "<=" if scheme is SFB else ">"
            return f"2K(P-1)(M+N) {sfb / 1e6:.3g}M {sign} {dense / 1e6:.3g}M 4MN(P-1)/P"
        costs = {option: option.cost(self.model, unit.load) for option in options.schemes}
        mine = costs.pop(scheme)
        others = (f"{other.name} {_parts(cost)}" for other, cost in costs.items())
        return f"link + work {_parts(mine)} ms; {', '.join(others)}"


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


def _check_with_fp16(settings: ClusterSettings) -> None:
    """Refuse what would hide an overflow, or keep it.

    Raises:
        NetError: it says what to ask for instead.
    """
    if settings.wire == "fp16":
        raise NetError(
            "--wire fp16 cuts off what is too large, and products in fp16 need to know of it: "
            "use --wire bf16"
        )
    for name in (settings.comm, *settings.comm_layer.values()):
        if name in selectable() and not selectable()[name].exact:
            raise NetError(
                f"--comm {name} keeps what it has not sent, and would keep a gradient that has "
                "overflowed: use another scheme with products in fp16"
            )
