"""Time a net's layers as `caffe time` does: pcd time --model NET [--iterations 50] [--roofline]."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict

from pycaffe_dist.cli._flags import (
    add_computing,
    add_import,
    add_state,
    flag,
    parser,
    use_engine,
)
from pycaffe_dist.cli._show import show
from pycaffe_dist.net import Net
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.model import read_model
from pycaffe_dist.tools.time import as_table, time_model


def main(argv: list[str]) -> int:
    p = parser("time", __doc__)
    net = p.add_argument_group("the net")
    flag(net, "model", required=True, metavar="FILE", help="the net's prototxt")
    flag(net, "weights", default="", metavar="FILE", help="accepted and, as in Caffe, not used")
    flag(net, "iterations", type=int, default=50, metavar="N", help="passes to time")
    flag(net, "phase", choices=("TRAIN", "TEST"), default="TRAIN", help="the phase it is built in")
    flag(net, "fake_data", action="store_true", help="made-up batches instead of every source")
    add_state(net)
    add_import(net)
    add_computing(p)
    out = p.add_argument_group("output")
    text = "each layer against this machine's measured peaks, the widest gap first"
    out.add_argument("--roofline", action="store_true", help=text)
    out.add_argument("-o", "--output", metavar="FILE", help="with --roofline: a picture of it")
    out.add_argument("--json", action="store_true", help="the times as JSON on standard output")
    args = p.parse_args(argv)
    if args.output and not args.roofline:
        p.error("-o draws a roofline; add --roofline")
    log_to_stderr()
    use_engine(args)
    stages = args.stage.split(",")
    model = read_model(args.model, args.phase, args.level, stages, args.fake_data)
    if args.roofline:
        _roofline(model, args)
        return 0
    times = time_model(model, args.iterations)
    show(json.dumps(asdict(times), indent=2) if args.json else "\n".join(as_table(times)))
    return 0


def _roofline(net: Net, args: Namespace) -> None:
    from pycaffe_dist.tools import roofline  # it needs LLVM, which timing alone does not

    found = roofline.roofline(net, args.iterations)
    show(
        json.dumps(found.as_json(), indent=2) if args.json else "\n".join(roofline.as_table(found))
    )
    if args.output:
        roofline.draw(found, args.output, f"{args.model}, {args.phase}")
