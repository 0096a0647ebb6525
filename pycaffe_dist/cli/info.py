"""Show versions, engines, MPI, GPUs and cores, and the command that adds each missing part."""

from __future__ import annotations

import argparse

from pycaffe_dist.report.info import as_json, as_text, gather


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="pcd info", description=__doc__)
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    args = parser.parse_args(argv)
    rows = gather()
    print(as_json(rows) if args.json else as_text(rows))
    return 0
