"""Train under a supervisor, which starts again after a failure: pcd launch [flags] -- train ...

pcd launch --max-restarts 5 -- train --solver solver.prototxt
pcd launch --ranks 4 -- train --solver solver.prototxt
pcd launch --hostfile hosts -- train --solver solver.prototxt
pcd launch --elastic 2:4 --memory-snapshot 10 -- train --solver solver.prototxt
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from pycaffe_dist.cli import WRONG_USE
from pycaffe_dist.cli import train as train_verb
from pycaffe_dist.cli._cluster_flags import add_elastic_batch
from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.errors import NetError
from pycaffe_dist.proto.nets import train_net
from pycaffe_dist.tools.deadline import seconds
from pycaffe_dist.tools.elastic import KEEP, Elastic
from pycaffe_dist.tools.joint_batch import divisors
from pycaffe_dist.tools.launch import LaunchOptions, launch, listening
from pycaffe_dist.tools.place import Place
from pycaffe_dist.tools.train import resolve

MEMORY_EVERY = 20


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
    if args.elastic is not None or args.memory_snapshot is not None:
        options = _kept_in_memory(options, args, train)
    return launch(options, listening(train.sigint_effect, train.sighup_effect))


def _kept_in_memory(
    options: LaunchOptions, args: argparse.Namespace, train: argparse.Namespace
) -> LaunchOptions:
    """The same with snapshots in memory, and perhaps with another number of ranks on the way."""
    every = MEMORY_EVERY if args.memory_snapshot is None else args.memory_snapshot
    if every < 1:
        raise NetError(f"--memory-snapshot {every}: 1 or more iterations")
    files = [train.solver, train.run_dir or ""]
    run = "\n".join(os.path.abspath(file) for file in files)
    options = replace(options, memory_snapshot=every, run=run, resumes=train.resume == "auto")
    if args.elastic is None:
        return options
    elastic = Elastic.parse(args.elastic, args.elastic_batch, seconds(args.join_after))
    place = options.place if options.place.ranks > 1 else Place.of(elastic.most, None)
    if place.ranks != elastic.most:
        raise NetError(f"--elastic {args.elastic}: the most are {place.ranks} ranks, as asked for")
    fits = None
    if elastic.batch == KEEP:
        net = train_net(resolve(train_verb.options_of(train, options.train))).read().net
        fits = divisors(net, elastic.most)
    return replace(options, place=place, elastic=elastic, fits=fits)


def _parser() -> argparse.ArgumentParser:
    p = parser("launch", __doc__)
    flag(p, "max_restarts", type=int, default=3, metavar="N", help="give up after so many")
    flag(p, "ranks", type=int, metavar="P", help="ranks on this machine")
    flag(p, "hostfile", metavar="FILE", help='hosts: lines "id ip port" or "host slots=4"')
    text = "restart when nothing was heard for so long; 0: never"
    flag(p, "heartbeat_timeout", default="10m", metavar="T", help=text)
    text = "after a loss continue with fewer ranks, which join again when they can: 2:4"
    flag(p, "elastic", metavar="MIN:MAX", help=text)
    add_elastic_batch(p)
    text = "how long after a loss those who are missing are tried again"
    flag(p, "join_after", default="20s", metavar="T", help=text)
    text = f"keep a snapshot in memory every N iterations (default with --elastic: {MEMORY_EVERY})"
    flag(p, "memory_snapshot", type=int, metavar="N", help=text)
    return p
