"""Examine hosts before they train together: pcd doctor --hostfile hosts [--json].

Versions, clocks, memory, disk, how fast each computes, and latency and bandwidth of every link
between two of them; what is out of line is named, and so are hosts that do not answer.
"""

from __future__ import annotations

import json

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.parallel.job.hostfile import read_hostfile
from pycaffe_dist.tools.doctor import examine


def main(argv: list[str]) -> int:
    p = parser("doctor", __doc__)
    flag(p, "hostfile", metavar="FILE", help='hosts: lines "id ip port" or "host slots=4"')
    flag(p, "ranks", type=int, default=2, metavar="P", help="without hosts: so many ranks here")
    p.add_argument("--json", action="store_true", help="the same as JSON")
    args = p.parse_args(argv)
    found = examine(read_hostfile(args.hostfile) if args.hostfile else [], args.ranks)
    show(json.dumps(found.as_json(), indent=1) if args.json else "\n".join(found.as_text()))
    return 1 if any(found.differences()) else 0  # what is slow trains all the same
