"""Check nets and solvers (and look into weights and states): parse, upgrade, filter, wire up."""

from __future__ import annotations

import sys

from pycaffe_dist.cli._flags import add_look, add_state, flag, parser
from pycaffe_dist.errors import PcdError
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
        print(f"{e}\n{path}: FAILED", file=sys.stderr)
        return False
    print(f"{path}:")
    for fact in report.facts:
        print(f"  {fact}")
    for text, owners in report.tables.items():
        print(f"\n  {' and '.join(owners)}:")
        print("\n".join(f"    {line}" for line in text.splitlines()), end="\n\n")
    for warning in report.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for error in report.errors:
        print(f"error: {error}", file=sys.stderr)
    print("  ok" if not report.errors else "  FAILED")
    return not report.errors
