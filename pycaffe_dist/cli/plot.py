"""Draw loss and accuracy from training logs or run folders: pcd plot LOG ... [-o out.png].

pcd plot runs/1                             (the log in the folder of a run)
pcd plot train.log                          (train.png: loss to the left, accuracy to the right)
pcd plot a.log b.log -o both.png --x seconds
pcd plot run/metrics.jsonl --terminal       (in the characters of the terminal)
pcd plot train.log --y lr                   (the learning rate, or any output by its name)
pcd plot train.log --log-y --smooth 20      (logarithmic; the mean of 20 points, as they are behind)
"""

from __future__ import annotations

import argparse
import shutil

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.tools.plot import GROUPS, charted, short_names
from pycaffe_dist.tools.plot_figure import draw
from pycaffe_dist.tools.terminal_chart import chart


def main(argv: list[str]) -> int:
    p = parser("plot", __doc__)
    p.add_argument("logs", nargs="+", metavar="LOG", help="log, metrics.jsonl, or run folder")
    p.add_argument("-o", "--output", metavar="FILE", help=".png, .pdf or .svg")
    text = "what the axis shows"
    p.add_argument("--x", choices=("iterations", "seconds"), default="iterations", help=text)
    p.add_argument(
        "--y", default=",".join(GROUPS), metavar="NAMES", help="loss, accuracy, lr, outputs' names"
    )
    p.add_argument("--log-y", action="store_true", help="a logarithmic left axis")
    text = "training curves as means of N points, 1: as they are; if not given, by their number"
    p.add_argument("--smooth", type=_count, metavar="N", help=text)
    p.add_argument("--terminal", action="store_true", help="show it here, in characters")
    args = p.parse_args(argv)
    words = [word.strip() for word in args.y.split(",") if word.strip()]
    runs = charted(args.logs, words, args.x, args.smooth, args.log_y)
    if args.terminal:
        size = shutil.get_terminal_size()
        show(*chart(runs, size.columns, size.lines - 1, args.x, args.log_y))
    if args.output or not args.terminal:
        path = args.output or f"{short_names(args.logs[:1])[0]}.png"
        draw(runs, path, args.x, args.log_y)
        print(f"Wrote {path}")
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"give a number of points from 1 up, not {text}")
    return int(text)
