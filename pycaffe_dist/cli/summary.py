"""Show a net's layers, shapes, parameters, work and memory: pcd summary NET [--json]."""

from __future__ import annotations

import json

from pycaffe_dist.cli._flags import add_look, add_state, flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.tools.summary import summarize


def main(argv: list[str]) -> int:
    p = parser("summary", __doc__)
    p.add_argument("model", metavar="NET", help="the net's prototxt")
    net = p.add_argument_group("the net")
    text = "the phase to show (default: TRAIN, if the net has it)"
    flag(net, "phase", choices=("TRAIN", "TEST"), default="", help=text)
    add_state(net)
    add_look(net)
    out = p.add_argument_group("output")
    out.add_argument("--json", action="store_true", help="the same as JSON")
    out.add_argument(
        "-w", "--max-total-width", metavar="N", help="accepted, as by summarize.py, and not used"
    )
    args = p.parse_args(argv)
    stages = args.stage.split(",")
    summary = summarize(args.model, args.phase, args.level, stages, args.allow_python)
    if args.json:
        show(json.dumps(summary.as_json(), indent=1, default=int))  # sizes may be NumPy's numbers
    else:
        show("\n".join(summary.as_text()))
    return 0
