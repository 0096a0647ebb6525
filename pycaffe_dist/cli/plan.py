"""Show how a net's gradients would travel on a cluster: pcd plan --solver S --ranks 8 ..."""

from __future__ import annotations

import json

from pycaffe_dist.cli._cluster_flags import by_layer
from pycaffe_dist.cli._flags import add_state, flag, parser
from pycaffe_dist.parallel.settings import COMM, POLICIES, WIRES, ClusterSettings
from pycaffe_dist.tools.plan import PlanOptions, plan_of


def main(argv: list[str]) -> int:
    p = parser("plan", __doc__)
    flag(p, "solver", required=True, metavar="FILE", help="the solver's prototxt")
    flag(
        p, "ranks", type=int, required=True, metavar="P", help="workers, each with the net's batch"
    )
    flag(
        p, "nodes", type=int, metavar="N", help="machines that hold them; one rank each if left out"
    )
    flag(p, "bandwidth", default="1gbit", metavar="RATE", help="of a node's link: 1gbit, 200mbit")
    flag(
        p, "latency", type=float, default=100.0, metavar="US", help="of a message, in microseconds"
    )
    flag(p, "batch", type=int, metavar="K", help="in place of the net's batch size")
    flag(p, "gflops", type=float, metavar="G", help="of a rank; measured here if left out")
    flag(p, "policy", choices=POLICIES, default="measured", help="how schemes are chosen")
    flag(p, "comm", choices=COMM, default="auto", help="one scheme for all that can use it")
    flag(
        p,
        "comm_layer",
        action="append",
        default=[],
        metavar="LAYER=SCHEME",
        help="the scheme of one layer; may be repeated, or several separated by commas",
    )
    flag(p, "wire", choices=WIRES, default="fp32", help="number format of what travels")
    flag(p, "overlap", choices=("on", "off"), default="on", help="exchange during backward")
    flag(p, "staleness", type=int, default=0, metavar="S", help="iterations a rank may be ahead")
    flag(p, "set", action="append", default=[], metavar="NAME=VALUE", help="a solver's setting")
    p.add_argument("--json", action="store_true", help="the same as JSON")
    add_state(p)
    args = p.parse_args(argv)
    planned = plan_of(
        PlanOptions(
            solver=args.solver,
            ranks=args.ranks,
            nodes=args.nodes,
            bandwidth=args.bandwidth,
            latency=args.latency,
            batch=args.batch,
            gflops=args.gflops,
            level=args.level,
            stage=args.stage,
            set=args.set,
            cluster=ClusterSettings(
                comm=args.comm,
                comm_layer=by_layer(args.comm_layer),
                policy=args.policy,
                overlap=args.overlap == "on",
                staleness=args.staleness,
                wire=args.wire,
            ),
        )
    )
    print(json.dumps(planned.as_json(), indent=1) if args.json else "\n".join(planned.as_text()))
    return 0
