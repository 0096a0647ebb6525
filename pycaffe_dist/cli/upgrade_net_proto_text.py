"""Bring a text net to today's format: upgrade_net_proto_text IN OUT."""

from __future__ import annotations

import sys

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.cli._upgrade import upgrade_file, write_text
from pycaffe_dist.errors import FileError, PrototxtError
from pycaffe_dist.proto.nets import read_net, read_net_text
from pycaffe_dist.proto.upgrade import net_needs_upgrade, upgrade_net
from pycaffe_dist.tools.to_bvlc import convert_weights, to_bvlc

TOOL = "upgrade_net_proto_text"


def main(argv: list[str]) -> int:
    p = parser(TOOL, __doc__)
    p.add_argument("files", nargs="*", metavar="IN OUT", help="the old file and the new one")
    text = "write layers of forks with BVLC Caffe's own where they compute the same"
    flag(p, "to_bvlc", action="store_true", help=text)
    text = "with --to-bvlc: weights of the old net, and the file for those of the new one"
    flag(p, "weights", nargs=2, metavar=("OLD", "NEW"), help=text)
    args = p.parse_args(argv)
    if args.weights and not args.to_bvlc:
        p.error("--weights goes with --to-bvlc")
    if args.to_bvlc and len(args.files) == 2:
        source, target = args.files
        return _rewrite(source, target, args.weights)
    return upgrade_file(
        args.files,
        TOOL,
        lambda path: read_net_text(path).message,
        net_needs_upgrade,
        upgrade_net,
        write_text,
    )


def _rewrite(source: str, target: str, weights: list[str] | None) -> int:
    """Exit code 0; 1 if a layer has no equivalent (the file is written all the same), 2 if IN does
    not parse.
    """
    try:
        net = read_net(source).net
    except (FileError, PrototxtError) as e:
        print(e, file=sys.stderr)
        return 2
    deals, left = to_bvlc(net)
    write_text(target, net)
    if weights:
        convert_weights(weights[0], weights[1], net, deals)
    for line in left:
        print(f"pcd {TOOL}: {source}: {line}", file=sys.stderr)
    return int(bool(left))
