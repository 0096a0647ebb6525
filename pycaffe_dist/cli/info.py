"""Show versions, engines, MPI, GPUs and cores, and the command that adds each missing part."""

from __future__ import annotations

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.report.info import as_json, as_text, gather


def main(argv: list[str]) -> int:
    p = parser("info", __doc__)
    p.add_argument("--json", action="store_true", help="the same as JSON")
    args = p.parse_args(argv)
    rows = gather()
    print(as_json(rows) if args.json else as_text(rows))
    return 0
