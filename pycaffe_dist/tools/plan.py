"""What ``pcd plan`` does: the plan of a solver's net on a cluster that need not be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.links import AlphaBeta, Links, bits_per_second, measure_rank
from pycaffe_dist.parallel.plan.plan import Entry, Plan, make_plan
from pycaffe_dist.parallel.settings import ClusterSettings
from pycaffe_dist.parallel.simulate.hardware import WITHIN_LATENCY
from pycaffe_dist.proto.caffe_pb2 import SolverParameter
from pycaffe_dist.proto.nets import read_solver, train_net
from pycaffe_dist.report.table import amount, table
from pycaffe_dist.sketch import NOT_RUN
from pycaffe_dist.tools.model import dry_net
from pycaffe_dist.tools.overrides import override_solver
from pycaffe_dist.tools.solver_file import check_nets

MOST_NAMES = 2  # of a bucket's parameters shown


@dataclass
class Training:
    """The flags that name what is trained, by their names."""

    solver: str
    batch: int | None = None
    level: int = 0
    stage: str = ""
    set: list[str] = field(default_factory=list)
    allow_python: bool = False

    def read(self) -> tuple[SolverParameter, Net, list[str]]:
        """The solver, its net without values, and what had to be assumed."""
        _at_least_1(batch=self.batch)
        solver = read_solver(self.solver).message
        for setting in self.set:
            override_solver(solver, setting)
        solver.train_state.level = self.level
        solver.train_state.stage.extend(s for s in self.stage.split(",") if s)
        described = train_net(solver)
        check_nets(self.solver, [described])
        file = described.read()
        net = dry_net(file, file.net.state, self.allow_python)
        net.refuse_problems()
        if self.batch:
            set_batch(net, self.batch)
        assumed = []
        if net.guess:
            assumed.append("the data cannot be read: the shape of a record is a guess")
        for layer in net.not_run:
            text = "it and the layers that need its tops are left out; --allow-python runs it"
            assumed.append(f"{layer} is {NOT_RUN}: {text}")
        return solver, net, assumed


@dataclass
class PlanOptions:
    """The flags of ``pcd plan``, by their names."""

    training: Training
    ranks: int
    nodes: int | None = None
    bandwidth: str = "1gbit"
    latency: float = 100.0
    gflops: float | None = None
    cluster: ClusterSettings = field(default_factory=ClusterSettings)


@dataclass
class Planned:
    """A plan, its net, and what was assumed."""

    plan: Plan
    net: Net
    assumed: list[str]

    def as_text(self) -> list[str]:
        return [*plan_table(self.plan, self.net), *self.assumed]

    def as_json(self) -> Facts:
        whole = asdict(self.plan)
        for entry, facts in zip(self.plan.entries, whole["entries"], strict=True):
            facts["layer"] = self.net.layer_names[entry.layer]
            facts["shapes"] = [self.net.params.learnable[p].blob.shape for p in entry.params]
            facts["params"] = [param_name(self.net, p) for p in entry.params]
        return {**whole, "bytes": self.plan.bytes, "assumed": self.assumed}


def plan_of(options: PlanOptions) -> Planned:
    """Plan without a cluster and without data: links as stated, computing as measured here."""
    _at_least_1(ranks=options.ranks, nodes=options.nodes)
    solver, net, assumed = options.training.read()
    links, stated = _stated_links(options)
    nodes = options.nodes or options.ranks
    plan = make_plan(net, options.cluster, options.ranks, nodes, links, solver)
    return Planned(plan, net, [stated, *assumed])


def _at_least_1(**numbers: int | None) -> None:
    for flag, number in numbers.items():
        if number is not None and number < 1:
            raise NetError(f"--{flag} must be 1 or more, not {number}")


def set_batch(net: Net, batch: int) -> None:
    """Give the first axis of all that comes from outside another size."""
    for layer, bottoms, tops in zip(net.layers, net.bottoms, net.tops, strict=True):
        if bottoms:
            layer.reshape(bottoms, tops)
            continue
        for top in tops:
            if top.shape:
                top.reshape(batch, *top.shape[1:])


def _stated_links(options: PlanOptions) -> tuple[Links, str]:
    if options.latency < 0:
        raise NetError(f"--latency is 0 or more microseconds, not {options.latency:g}")
    if options.gflops is not None and options.gflops <= 0:
        raise NetError(f"--gflops must be more than 0, not {options.gflops:g}")
    flops, memory = measure_rank()
    how = "measured here with a matrix product; --gflops states another figure"
    if options.gflops:
        flops, how = options.gflops * 1e9, "as stated"
    between = AlphaBeta(options.latency * 1e-6, 8 / bits_per_second(options.bandwidth))
    within = AlphaBeta(WITHIN_LATENCY, 2 * 2 / memory)
    return Links(between, within, flops, memory), (
        f"link {options.bandwidth}, {options.latency:g} us; a rank computes {amount(flops)}FLOP/s "
        f"({how})"
    )


# -- tables ----------------------------------------------------------------------------------------


def plan_table(plan: Plan, net: Net) -> list[str]:
    """A line for each exchange in the order in which they start, and the sums below."""
    head = ("parameter", "shape", "scheme", "sent", "ms", "why")
    rows = [_row(list(group), net) for group in _exchanges(plan.entries)]
    # All but the two numbers stand to the left.
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(5)]
    whys = [row[-1] for row in (head, *rows)]
    lines = table(head[:5], [row[:5] for row in rows], left=3)
    where = f"{plan.ranks} ranks on {plan.nodes} {'node' if plan.nodes == 1 else 'nodes'}"
    return [
        *(
            f"{line.ljust(sum(widths) + 8)}  {why}".rstrip()
            for line, why in zip(lines, whys, strict=True)
        ),
        f"{where}, policy {plan.policy}, {plan.wire} on the wire: "
        f"{amount(plan.bytes, 'B')} sent by a rank in a step",
        f"expected step {plan.step_ms:,.1f} ms; a rank alone {plan.alone_ms:,.1f}, "
        f"exchanges add {max(0.0, plan.step_ms - plan.alone_ms):,.1f}",
    ]


def param_name(net: Net, param: int) -> str:
    """``fc6[0]``: the layer that owns a parameter, and its number there."""
    layer, number = net.params.learnable[param].owner
    return f"{net.layer_names[layer]}[{number}]"


def _exchanges(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Entries that travel together, together."""
    keys = [(e.bucket, i if e.bucket is None else 0) for i, e in enumerate(entries)]
    pairs = groupby(zip(keys, entries, strict=True), key=lambda pair: pair[0])
    return [[entry for _, entry in group] for _, group in pairs]


def _row(entries: Sequence[Entry], net: Net) -> tuple[str, str, str, str, str, str]:
    params = [p for entry in entries for p in entry.params]
    names = [param_name(net, p) for p in params]
    shapes = [net.params.learnable[p].blob.shape for p in params]
    shape = " ".join("x".join(map(str, s)) or "1" for s in shapes)
    why = entries[0].reason
    if len(entries) > 1:
        values = sum(net.params.learnable[p].blob.count for p in params)
        shape, why = f"{values:,} values", f"{len(entries)} together"
    if len(names) > MOST_NAMES:
        names = [names[0], "...", names[-1]]
    return (
        " ".join(names),
        shape,
        entries[0].scheme,
        amount(sum(e.bytes for e in entries), "B"),
        f"{sum(e.ms for e in entries):,.2f}",
        why,
    )
