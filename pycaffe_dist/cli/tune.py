"""Measure which implementations are fastest here: pcd tune [MODEL] [--list] [--clear]."""

from __future__ import annotations

from pycaffe_dist.cli._flags import add_engine, add_gpu, add_state, parser, use_engine
from pycaffe_dist.cli._show import show
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.tune import as_table, choices, tune


def main(argv: list[str]) -> int:
    p = parser("tune", __doc__)
    p.add_argument("model", nargs="?", metavar="MODEL", help="the net's prototxt: measure it now")
    p.add_argument("--list", action="store_true", help="show what is remembered")
    p.add_argument("--clear", action="store_true", help="forget what is remembered")
    add_state(p)
    add_gpu(p)
    add_engine(p)
    args = p.parse_args(argv)
    if not (args.model or args.list or args.clear):
        p.error("give a net to measure, --list or --clear")
    use_engine(args)
    if args.clear:
        print(f"{choices().clear()} choices forgotten, of {choices().path or 'memory only'}")
    if args.model:
        log_to_stderr()
        show(*tune(args.model, args.level, args.stage.split(",")))
    if args.list:
        show(*as_table(choices(), sorted(choices().remembered())))
    return 0
