"""Check nets and solvers (and look into weights and states): parse, upgrade, filter, wire up."""

from __future__ import annotations

from pycaffe_dist.cli._flags import add_look, add_state, flag, parser
from pycaffe_dist.cli._show import complain, show
from pycaffe_dist.errors import PcdError, visible
from pycaffe_dist.proto.caffe_pb2 import NetState
from pycaffe_dist.tools.check import check_file


def main(argv: list[str]) -> int:
    p = parser("check", __doc__)
    p.add_argument("files", nargs="+", metavar="FILE", help="net, solver, weights or state")
    net = p.add_argument_group("the net")
    flag(net, "phase", choices=("TRAIN", "TEST"), help="one phase of a net (default: both)")
    add_state(net)
    add_look(net)
    args = p.parse_args(argv)
    stages = [s for s in args.stage.split(",") if s]
    state = NetState(phase=args.phase, level=args.level, stage=stages)
    results = [_check(path, state, args.allow_python) for path in args.files]
    return 0 if all(results) else 1


def _check(path: str, state: NetState, python: bool) -> bool:
    try:
        report = check_file(path, state, python)
    except PcdError as e:
        complain(str(e), f"{path}: FAILED")
        return False
    show(f"{path}:", *(f"  {visible(fact)}" for fact in report.facts))
    for text, owners in report.tables.items():
        show(f"\n  {' and '.join(owners)}:", *(f"    {line}" for line in text.split("\n")), "")
    for warning in report.warnings:
        complain(f"warning: {warning}")
    for error in report.errors:
        complain(f"error: {error}")
    show("  ok" if not report.errors else "  FAILED")
    return not report.errors
