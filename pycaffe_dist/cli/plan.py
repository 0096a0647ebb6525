"""Show how a net's gradients would travel on a cluster: pcd plan --solver S --ranks 8 ..."""

from __future__ import annotations

import json

from pycaffe_dist.cli._cluster_flags import add_scheme_options, by_layer, given_options
from pycaffe_dist.cli._flags import Parser, flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.cli._training_flags import add_training, training_of
from pycaffe_dist.parallel.settings import COMM, POLICIES, WIRES, ClusterSettings
from pycaffe_dist.tools.plan import PlanOptions, plan_of


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    planned = plan_of(
        PlanOptions(
            training=training_of(args),
            ranks=args.ranks,
            nodes=args.nodes,
            bandwidth=args.bandwidth,
            latency=args.latency,
            gflops=args.gflops,
            cluster=ClusterSettings(
                comm=args.comm,
                comm_layer=by_layer(args.comm_layer),
                policy=args.policy,
                overlap=args.overlap == "on",
                staleness=args.staleness,
                wire=args.wire,
                options=given_options(args),
            ),
        )
    )
    show(json.dumps(planned.as_json(), indent=1) if args.json else "\n".join(planned.as_text()))
    return 0


def _parser() -> Parser:
    p = parser("plan", __doc__)
    add_training(p)

    where = p.add_argument_group("the cluster")
    text = "workers, each with the net's batch"
    flag(where, "ranks", type=int, required=True, metavar="P", help=text)
    text = "machines that hold them (default: one rank each)"
    flag(where, "nodes", type=int, metavar="N", help=text)
    flag(where, "bandwidth", default="1gbit", metavar="RATE", help="of a node's link: 200mbit")
    text = "of a message, in microseconds"
    flag(where, "latency", type=float, default=100.0, metavar="US", help=text)
    text = "what a rank computes in a second, in GFLOP (default: measured here)"
    flag(where, "gflops", type=float, metavar="G", help=text)

    comm = p.add_argument_group("communication")
    flag(comm, "policy", choices=POLICIES, default="measured", help="how schemes are chosen")
    flag(comm, "comm", choices=COMM, default="auto", help="one scheme for all that can use it")
    text = "the scheme of one layer; may be repeated, or several separated by commas"
    flag(comm, "comm_layer", action="append", default=[], metavar="LAYER=SCHEME", help=text)
    add_scheme_options(comm)
    flag(comm, "wire", choices=WIRES, default="fp32", help="number format of what travels")
    flag(comm, "overlap", choices=("on", "off"), default="on", help="exchange during backward")
    flag(comm, "staleness", type=int, default=0, metavar="S", help="iterations a rank may be ahead")

    out = p.add_argument_group("output")
    out.add_argument("--json", action="store_true", help="the same as JSON")
    return p
