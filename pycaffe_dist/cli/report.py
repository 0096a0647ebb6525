"""Write curves, settings and nets of runs as one HTML file to send: pcd report RUN ... -o FILE.

pcd report runs/digits -o report.html
pcd report runs/a runs/b old/train.log -o both.html
"""

from __future__ import annotations

from pycaffe_dist.board.board import Board
from pycaffe_dist.board.places import Places
from pycaffe_dist.board.report import write_report
from pycaffe_dist.cli._flags import parser


def main(argv: list[str]) -> int:
    p = parser("report", __doc__)
    p.add_argument("runs", nargs="+", metavar="RUN", help="folders of runs, metrics files, logs")
    text = "the file to write"
    p.add_argument("-o", "--output", default="report.html", metavar="FILE", help=text)
    args = p.parse_args(argv)
    count = write_report(Board(Places(args.runs)), args.output)
    print(f"Wrote {args.output}: {count} run{'s' if count > 1 else ''}")
    return 0
