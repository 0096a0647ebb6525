"""Draw loss and accuracy from training logs or metrics files: pcd plot LOG ... [-o out.png].

pcd plot train.log                          (train.png: loss to the left, accuracy to the right)
pcd plot a.log b.log -o both.png --x seconds
pcd plot run/metrics.jsonl --terminal       (in the characters of the terminal)
pcd plot train.log --y lr                   (the learning rate, or any output by its name)
"""

from __future__ import annotations

import shutil
from pathlib import Path

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.tools.plot import GROUPS, chart, charted, draw


def main(argv: list[str]) -> int:
    p = parser("plot", __doc__)
    p.add_argument("logs", nargs="+", metavar="LOG", help="Caffe-format log, or .jsonl")
    p.add_argument("-o", "--output", metavar="FILE", help=".png, .pdf or .svg")
    text = "what the axis shows"
    p.add_argument("--x", choices=("iterations", "seconds"), default="iterations", help=text)
    p.add_argument(
        "--y", default=",".join(GROUPS), metavar="NAMES", help="loss, accuracy, lr, outputs' names"
    )
    p.add_argument("--terminal", action="store_true", help="show it here, in characters")
    args = p.parse_args(argv)
    words = [word.strip() for word in args.y.split(",") if word.strip()]
    runs = charted(args.logs, words, args.x)
    if args.terminal:
        size = shutil.get_terminal_size()
        print("\n".join(chart(runs, size.columns, size.lines - 1, args.x)))
    if args.output or not args.terminal:
        path = args.output or Path(args.logs[0]).stem + ".png"
        draw(runs, path, args.x)
        print(f"Wrote {path}")
    return 0
