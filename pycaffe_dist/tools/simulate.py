"""What ``pcd simulate`` does: the speedup of a net on clusters that need not be there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

from pycaffe_dist.aliases import Facts
from pycaffe_dist.errors import NetError
from pycaffe_dist.net import Net
from pycaffe_dist.parallel.plan.links import HANDLING, bits_per_second, measure_rank
from pycaffe_dist.parallel.plan.step import LayerTimes
from pycaffe_dist.parallel.simulate import layer_times
from pycaffe_dist.parallel.simulate.hardware import Device, Network, Topology, device_named
from pycaffe_dist.parallel.simulate.series import (
    KEPT,
    SACP,
    SERVER,
    VARIANTS,
    Case,
    Point,
    Variant,
    needed_bandwidth,
    simulate,
)
from pycaffe_dist.parallel.simulate.timeline import write_timeline
from pycaffe_dist.proto.suggest import did_you_mean
from pycaffe_dist.report.table import amount, table
from pycaffe_dist.tools.plan import Training

KNOWN = {variant.name: variant for variant in (*VARIANTS, SERVER)}


@dataclass
class SimulateOptions:
    """The flags of ``pcd simulate``, by their names."""

    training: Training
    nodes: list[int] = field(default_factory=lambda: [1, 2, 4, 8, 16, 32])
    ranks_per_node: int = 1
    ranks_per_core: int = 1
    variants: list[str] = field(default_factory=lambda: [v.name for v in VARIANTS])
    policy: str = "measured"
    bandwidth: str = "10gbit"
    latency: float = 50.0
    topology: str = "flat"
    staging: float = 0.0
    incast: float = 0.0
    device: str = "cpu"
    gflops: float | None = None
    gbytes: float | None = None
    handling: float | None = None
    times: str = ""
    trace: str = ""
    alone: float | None = None
    spread: float = 2.0
    slow: float = 1.0
    steps: int = 24
    seed: int = 1


@dataclass
class Simulated:
    """Points of all variants, and what they rest on."""

    case: Case
    points: list[Point]
    alone: float
    needed: float | None
    assumed: list[str]

    def as_text(self) -> list[str]:
        head = ("", "nodes", "ranks", "step ms", "speedup", "efficiency", "bound by", "sent")
        rows = [
            (
                p.variant,
                str(p.nodes),
                str(p.ranks),
                f"{1e3 * p.seconds:,.1f}",
                f"{p.speedup:,.2f}",
                f"{100 * p.speedup / p.ranks:.0f} %",
                p.bound,
                amount(p.sent, "B"),
                amount(p.memory, "B"),
            )
            for p in self.points
        ]
        return [*table((*head, "memory"), rows), *self._needed(), *self.assumed]

    def _needed(self) -> list[str]:
        most = max(p.nodes for p in self.points)
        if most == 1 or not any(p.variant == SACP.name for p in self.points):
            return []
        text = f"{SACP.name} on {most} nodes keeps {100 * KEPT:.0f} % of its speed"
        if self.needed is None:
            return [f"{text} with no bandwidth up to 400 Gbit/s: latency or work bounds it"]
        return [f"{text} with links of {amount(self.needed, 'bit/s')} or more"]

    def as_json(self) -> Facts:
        return {
            "alone_ms": 1e3 * self.alone,
            "points": [asdict(p) for p in self.points],
            "needed_bandwidth": self.needed,
            "assumed": self.assumed,
        }


def simulated(options: SimulateOptions) -> Simulated:
    """Simulate every variant on every number of nodes."""
    _check(options)
    solver, net, assumed = options.training.read()
    device, how = _device(options)
    times, source = _times(options, net, device)
    case = Case(
        net,
        solver,
        times,
        device,
        _network(options),
        options.ranks_per_node,
        options.ranks_per_core,
        options.spread / 100,
        options.slow,
        options.steps,
        options.seed,
    )
    if options.alone:
        case = stated_alone(case, options.alone / 1e3)
        source += f", scaled to {options.alone:g} ms a step"
    variants = [chosen(name, options.policy) for name in options.variants]
    points = simulate(case, variants, options.nodes)
    sacp = next((v for v in variants if v.name == SACP.name), None)
    most = max(options.nodes)
    needed = needed_bandwidth(case, sacp, most) if sacp and most > 1 else None
    assumed = [
        f"links {options.bandwidth}, {options.latency:g} us, {options.topology}; {how}",
        f"layers' times {source}; a step alone takes {1e3 * case.alone:,.1f} ms, and from step to "
        f"step and rank to rank {options.spread:g} % more or less",
        "This is a simulation: compare it with a run on few nodes before you rely on it.",
        *assumed,
    ]
    return Simulated(case, points, case.alone, needed, assumed)


def chosen(name: str, policy: str) -> Variant:
    """A variant by its name, with the plan's policy."""
    if name not in KNOWN:
        raise NetError(
            f'--variants: there is no "{name}"{did_you_mean(name, KNOWN)}; there are: '
            + ", ".join(KNOWN)
        )
    variant = KNOWN[name]
    return replace(variant, settings=replace(variant.settings, policy=policy))


def stated_alone(case: Case, seconds: float) -> Case:
    """A case whose layers take as long as makes a step of one rank last so many seconds."""
    update = case.alone - case.times.total * max(1, case.solver.iter_size)
    if seconds <= update:
        raise NetError(
            f"--alone: the update alone takes {1e3 * update:.3g} ms on this device; a step of "
            f"{1e3 * seconds:g} ms is too short for it"
        )
    factor = (seconds - update) / (case.alone - update)
    return replace(case, times=case.times.scaled(factor))


def write_step(path: str, done: Simulated, name: str, policy: str) -> None:
    """Write a simulated step of a variant on the most nodes as a trace."""
    most = max(p.nodes for p in done.points)
    write_timeline(path, done.case, chosen(name, policy), most)


def _check(options: SimulateOptions) -> None:
    for flag, number in (
        ("ranks-per-node", options.ranks_per_node),
        ("ranks-per-core", options.ranks_per_core),
        ("steps", options.steps),
        *(("nodes", n) for n in options.nodes),
    ):
        if number < 1:
            raise NetError(f"--{flag} must be 1 or more, not {number}")
    for flag, value, least in (
        ("latency", options.latency, 0.0),
        ("staging", options.staging, 0.0),
        ("incast", options.incast, 0.0),
        ("spread", options.spread, 0.0),
        ("slow", options.slow, 1.0),
        ("handling", options.handling or 0.0, 0.0),
    ):
        if not least <= value < 1e9:
            raise NetError(f"--{flag} must be {least:g} or more, not {value:g}")
    for flag, given in (("gflops", options.gflops), ("gbytes", options.gbytes)):
        if given is not None and given <= 0:
            raise NetError(f"--{flag} must be more than 0, not {given:g}")
    if options.alone is not None and options.alone <= 0:
        raise NetError(f"--alone must be more than 0 ms, not {options.alone:g}")
    if options.times and options.trace:
        raise NetError("--times and --trace both say how long layers take; give one")


def _device(options: SimulateOptions) -> tuple[Device, str]:
    if options.device == "cpu":
        if options.gflops and options.gbytes:
            flops, memory = 1.0, 1.0  # both are stated below
        else:
            flops, memory = measure_rank()
        device = Device("cpu", flops, flops, memory, HANDLING)
        how = "as measured here"
    else:
        device = device_named(options.device)
        how = f"of a {options.device}"
    if options.gflops:
        flops = options.gflops * 1e9
        device = replace(device, flops=flops, layer_flops=flops)
    if options.gbytes:
        device = replace(device, memory=options.gbytes * 1e9)
    if options.handling is not None:
        device = replace(device, handling=options.handling * 1e-9)
    if options.gflops or options.gbytes:
        how = "as stated" if options.gflops and options.gbytes else f"partly stated, {how}"
    return device, (
        f"a rank computes {amount(device.flops)}FLOP/s and moves {amount(device.memory)}B/s ({how})"
    )


def _network(options: SimulateOptions) -> Network:
    return Network(
        bits_per_second(options.bandwidth),
        options.latency * 1e-6,
        Topology.named(options.topology),
        options.staging * 1e-9,
        options.incast,
    )


def _times(options: SimulateOptions, net: Net, device: Device) -> tuple[LayerTimes, str]:
    if options.times:
        return layer_times.of_times(net, options.times), f"of {options.times}"
    if options.trace:
        return layer_times.of_trace(net, options.trace), f"of {options.trace}"
    text = "from their FLOPs and bytes (`pcd time --json` measures them, for --times)"
    return layer_times.of_device(net, device), text
