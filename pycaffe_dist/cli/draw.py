"""Draw a net as Caffe's draw_net.py does: pcd draw NET PICTURE [--rankdir TB] [--phase TEST].

With pydot and Graphviz any format they know; without them an SVG of our own.
"""

from __future__ import annotations

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.tools.draw import ALL, draw_file


def main(argv: list[str]) -> int:
    p = parser("draw", __doc__)
    p.add_argument("model", metavar="NET", help="the net's prototxt")
    p.add_argument("picture", metavar="PICTURE", help=".svg, .png, .pdf; .raw for Graphviz's text")
    text = "the way the net runs: left to right, ..., bottom to top"
    flag(p, "rankdir", default="LR", type=str.upper, choices=("LR", "RL", "TB", "BT"), help=text)
    flag(p, "phase", default=ALL, choices=("TRAIN", "TEST", ALL), help="which layers")
    flag(p, "display_lrm", action="store_true", help="show learning rate multipliers")
    p.add_argument("--own", action="store_true", help="our own SVG also where Graphviz is there")
    args = p.parse_args(argv)
    by = draw_file(args.model, args.picture, args.rankdir, args.phase, args.display_lrm, args.own)
    print(f"Wrote {args.picture} (drawn by {by})")
    return 0
