"""Look into a database, LMDB or LevelDB: pcd db PATH [--sheet out.png] [--verify]."""

from __future__ import annotations

import sys

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._show import complain, show
from pycaffe_dist.errors import visible
from pycaffe_dist.tools.db import as_lines, bad_lines, look_into, write_contact_sheet

MOST_BAD = 20  # named; the rest are counted


def main(argv: list[str]) -> int:
    p = parser("db", __doc__)
    p.add_argument("path", metavar="PATH", help="the database")
    flag(p, "sheet", metavar="FILE.png", help="write the first images as one")
    flag(p, "verify", action="store_true", help="decode every record and name the bad ones")
    args = p.parse_intermixed_args(argv)
    contents = look_into(args.path, verify=args.verify, sheet=bool(args.sheet))
    show(*as_lines(contents))
    if args.sheet:
        write_contact_sheet(args.sheet, contents)
        print(f"Wrote {args.sheet}: the first {len(contents.images)} images")
    bad = bad_lines(contents)
    if bad:
        print(f"{len(bad):,} bad records:", file=sys.stderr)
        complain(*(f"  {visible(line)}" for line in bad[:MOST_BAD]))
        if len(bad) > MOST_BAD:
            print(f"  ... and {len(bad) - MOST_BAD:,} more", file=sys.stderr)
        return 1
    if args.verify:
        print("every record is good")
    return 0
