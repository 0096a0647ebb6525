"""Begin a project from a model that the package carries: pcd init [DIR] --from NAME.

pcd init --from digits              (here: LeNet and 1,797 digits, nothing to download)
pcd init shapes --from ssd_shapes   (a small SSD in the folder shapes)
"""

from __future__ import annotations

import shlex

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.cli._show import show
from pycaffe_dist.tools.init import start


def main(argv: list[str]) -> int:
    p = parser("init", __doc__)
    p.add_argument("folder", nargs="?", default=".", metavar="DIR", help="where (default: here)")
    text = "digits, lenet, cifar10_quick, ssd_shapes, finetune or another of `pcd models`"
    p.add_argument("--from", dest="name", default="digits", metavar="NAME", help=text)
    args = p.parse_args(argv)
    commands = start(args.name, args.folder)
    if args.folder != ".":
        commands = [f"cd {shlex.quote(args.folder)}", *commands]
    show("Next:", *(f"  {command}" for command in commands))
    return 0
