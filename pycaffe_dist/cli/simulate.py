"""Simulate training on clusters of any size: pcd simulate --solver S --nodes 1,2,4,...,1024 ..."""

from __future__ import annotations

import argparse
import json

from pycaffe_dist.cli._flags import Group, Parser, flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.cli._training_flags import add_training, training_of
from pycaffe_dist.parallel.settings import POLICIES
from pycaffe_dist.parallel.simulate.hardware import DEVICES
from pycaffe_dist.parallel.simulate.series import VARIANTS
from pycaffe_dist.tools.simulate import KNOWN, SimulateOptions, simulated, write_step
from pycaffe_dist.tools.simulate_chart import draw

EXAMPLE = "numbers of nodes, as 1,2,4,...,64"
SAME = (
    "ranks_per_node ranks_per_core policy bandwidth latency topology staging incast device gflops "
    "gbytes handling times trace alone spread slow steps seed"
)


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    options = SimulateOptions(
        training_of(args),
        args.nodes,
        variants=[name.strip() for name in args.variants.split(";")],
        **{name: getattr(args, name) for name in SAME.split()},
    )
    done = simulated(options)
    if args.output:
        draw(done.points, args.output)
    if args.timeline:
        write_step(args.timeline, done, args.timeline_of, args.policy)
    show(json.dumps(done.as_json(), indent=1) if args.json else "\n".join(done.as_text()))
    return 0


def numbers(text: str) -> list[int]:
    """``1,2,8``; ``...`` between two numbers stands for the powers of 2 between them."""
    found: list[int] = []
    fill = False
    for part in text.split(","):
        if part.strip() == "...":
            fill = True
            continue
        try:
            number = int(part)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {EXAMPLE}, not {text!r}") from None
        if fill and found and found[-1] > 0:
            powers = [found[-1] << i for i in range(1, number.bit_length())]
            found += [power for power in powers if power < number]
        fill = False
        found.append(number)
    if fill or not found:
        raise argparse.ArgumentTypeError(f"expected {EXAMPLE}, not {text!r}")
    return found


def _parser() -> Parser:
    default = SimulateOptions
    p = parser("simulate", __doc__)
    add_training(p)

    _add_ranks(p.add_argument_group("the ranks"))

    _add_network(p.add_argument_group("the network"))

    how = p.add_argument_group("how it trains")
    text = f"what is compared, of: {'; '.join(KNOWN)}"
    usual = ";".join(variant.name for variant in VARIANTS)
    flag(how, "variants", default=usual, metavar="NAME;...", help=text)
    flag(how, "policy", choices=POLICIES, default=default.policy, help="how schemes are chosen")
    flag(how, "steps", type=int, default=default.steps, metavar="N", help="simulated for a figure")
    flag(how, "seed", type=int, default=default.seed, metavar="N", help="of the spread")

    out = p.add_argument_group("output")
    text = "a chart of the speedups: .png, .pdf or .svg"
    out.add_argument("-o", "--output", default="", metavar="FILE", help=text)
    text = "a simulated step on the most nodes, for ui.perfetto.dev"
    flag(out, "timeline", default="", metavar="FILE", help=text)
    text = "the variant that it shows"
    flag(out, "timeline_of", default="SACP", metavar="NAME", help=text)
    out.add_argument("--json", action="store_true", help="the same as JSON")
    return p


def _add_ranks(who: Group) -> None:
    """How many ranks there are, and how fast each computes."""
    default = SimulateOptions
    text = "how many; 1,2,4,...,1024 takes the powers of 2 between"
    flag(who, "nodes", type=numbers, default="1,2,4,...,32", metavar="N,...", help=text)
    flag(who, "ranks_per_node", type=int, default=1, metavar="R", help="ranks on each node")
    text = "ranks that share a core, or a device: each computes so many times slower"
    flag(who, "ranks_per_core", type=int, default=1, metavar="R", help=text)
    names = ", ".join(("cpu", *DEVICES))
    flag(who, "device", default=default.device, metavar="NAME", help=f"what computes: {names}")
    flag(who, "gflops", type=float, metavar="G", help="what it computes in a second, in GFLOP")
    flag(who, "gbytes", type=float, metavar="G", help="what it reads and writes in a second, in GB")
    text = "nanoseconds of a rank's processor for a byte that it sends (cpu: 2, others: 0)"
    flag(who, "handling", type=float, metavar="NS", help=text)
    text = "layers' times, as `pcd time --json` writes them"
    flag(who, "times", default="", metavar="FILE", help=text)
    text = "layers' times, of a trace that `pcd train --trace` has written"
    flag(who, "trace", default="", metavar="FILE", help=text)
    text = "a step of one rank takes so many milliseconds: layers' times are scaled"
    flag(who, "alone", type=float, metavar="MS", help=text)
    text = "by how many per cent a rank's computing differs from step to step"
    flag(who, "spread", type=float, default=default.spread, metavar="PCT", help=text)
    text = "one rank is so many times slower than the others"
    flag(who, "slow", type=float, default=default.slow, metavar="X", help=text)


def _add_network(net: Group) -> None:
    """The links between nodes."""
    default = SimulateOptions
    text = "of a node's link, each way"
    flag(net, "bandwidth", default=default.bandwidth, metavar="RATE", help=text)
    text = "of a message, in microseconds"
    flag(net, "latency", type=float, default=default.latency, metavar="US", help=text)
    text = "flat, or two-tier:OVERSUBSCRIPTION[:NODES_IN_A_RACK]"
    flag(net, "topology", default=default.topology, metavar="NAME", help=text)
    text = "nanoseconds a byte between a device's memory and the link, both ways"
    flag(net, "staging", type=float, default=default.staging, metavar="NS", help=text)
    text = "n nodes that send to a parameter server at a time take n^X times as long as one"
    flag(net, "incast", type=float, default=default.incast, metavar="X", help=text)
