"""Show a net's layers, shapes, parameters, work and memory: pcd summary NET [--json]."""

from __future__ import annotations

import json

from pycaffe_dist.cli._flags import add_state, flag, parser
from pycaffe_dist.tools.summary import summarize


def main(argv: list[str]) -> int:
    p = parser("summary", __doc__)
    p.add_argument("model", metavar="NET", help="the net's prototxt")
    flag(p, "phase", choices=("TRAIN", "TEST"), default="", help="TRAIN, if the net has it")
    p.add_argument("--json", action="store_true", help="the same as JSON")
    p.add_argument(
        "-w", "--max-total-width", metavar="N", help="accepted, as by summarize.py, and not used"
    )
    add_state(p)
    args = p.parse_args(argv)
    summary = summarize(args.model, args.phase, args.level, args.stage.split(","))
    print(json.dumps(summary.as_json(), indent=1) if args.json else "\n".join(summary.as_text()))
    return 0
