"""Time a net's layers as `caffe time` does: pcd time --model NET [--iterations 50] [--json]."""

from __future__ import annotations

import json
from dataclasses import asdict

from pycaffe_dist.cli._flags import (
    add_engine,
    add_gpu,
    add_import,
    add_state,
    flag,
    parser,
    use_engine,
)
from pycaffe_dist.cli._show import show
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
    where = p.add_argument_group("where it computes")
    add_gpu(where)
    add_engine(where)
    out = p.add_argument_group("output")
    out.add_argument("--json", action="store_true", help="the times as JSON on standard output")
    args = p.parse_args(argv)
    log_to_stderr()
    use_engine(args)
    stages = args.stage.split(",")
    model = read_model(args.model, args.phase, args.level, stages, args.fake_data)
    times = time_model(model, args.iterations)
    show(json.dumps(asdict(times), indent=2) if args.json else "\n".join(as_table(times)))
    return 0
