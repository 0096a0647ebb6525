"""Train under a supervisor, which starts again after a failure: pcd launch [flags] -- train ...

pcd launch --max-restarts 5 -- train --solver solver.prototxt
pcd launch --ranks 4 -- train --solver solver.prototxt
pcd launch --hostfile hosts -- train --solver solver.prototxt
"""

from __future__ import annotations

import argparse
import sys

from pycaffe_dist.cli import WRONG_USE
from pycaffe_dist.cli import train as train_verb
from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.errors import NetError
from pycaffe_dist.tools.launch import LaunchOptions, Place, launch, listening
from pycaffe_dist.tools.train import seconds


def main(argv: list[str]) -> int:
    if "--" not in argv:
        if any(word in argv for word in ("-h", "-help", "--help")):
            _parser().parse_args(argv)
        print("pcd launch: write -- train and its flags after those of launch", file=sys.stderr)
        return WRONG_USE
    middle = argv.index("--")
    args, command = _parser().parse_args(argv[:middle]), argv[middle + 1 :]
    if command[:1] != ["train"]:
        raise NetError("what can be launched is train: pcd launch [flags] -- train -solver ...")
    train = train_verb.parse(command[1:])
    place = asked = train_verb.place(train)
    if args.ranks is not None or args.hostfile is not None:
        place = Place.of(args.ranks, args.hostfile)
        if asked != Place() and asked.ranks != place.ranks:
            raise NetError(f"launch asks for {place.ranks} ranks, train for {asked.ranks}")
    if args.max_restarts < 0:
        raise NetError(f"--max-restarts {args.max_restarts}: 0 or more")
    options = LaunchOptions(place, command[1:], args.max_restarts, seconds(args.heartbeat_timeout))
    return launch(options, listening(train.sigint_effect, train.sighup_effect))


def _parser() -> argparse.ArgumentParser:
    p = parser("launch", __doc__)
    flag(p, "max_restarts", type=int, default=3, metavar="N", help="give up after so many")
    flag(p, "ranks", type=int, metavar="P", help="ranks on this machine")
    flag(p, "hostfile", metavar="FILE", help='hosts: lines "id ip port" or "host slots=4"')
    text = "restart when nothing was heard for so long; 0: never"
    flag(p, "heartbeat_timeout", default="10m", metavar="T", help=text)
    return p
