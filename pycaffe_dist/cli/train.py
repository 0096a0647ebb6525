"""Train a net as `caffe train` does: pcd train --solver SOLVER [flags].

pcd train --solver solver.prototxt
pcd train --solver solver.prototxt --weights a.caffemodel           (fine-tune)
pcd train --solver solver.prototxt --resume auto --run-dir runs/1   (resume, or begin)
pcd train --solver solver.prototxt --ranks 4                        (four processes here)
mpirun -n 4 pcd train --solver solver.prototxt                      (the same, by mpirun)
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex

from pycaffe_dist.cli._cluster_flags import add_cluster, asked_ranks, cluster_settings
from pycaffe_dist.cli._flags import (
    Group,
    Parser,
    add_engine,
    add_gpu,
    add_import,
    add_state,
    devices,
    flag,
    parser,
)
from pycaffe_dist.errors import NetError
from pycaffe_dist.parallel.cluster import connect
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.failure import all_or_none, told
from pycaffe_dist.parallel.job.launcher import (
    die_with_parent,
    launched,
    local_rank,
    rank_and_size,
    tune_mpi,
)
from pycaffe_dist.parallel.job.watchdog import Watchdog
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.deadline import seconds
from pycaffe_dist.tools.launch import listening, train_on
from pycaffe_dist.tools.place import Place
from pycaffe_dist.tools.train import TrainOptions, train

CONNECT_SECONDS = 60.0  # in which MPI brings all ranks together, or never
EFFECTS = ("stop", "snapshot", "none")


def main(argv: list[str]) -> int:
    if launched():
        return _as_rank(argv)
    args = parse(argv)
    where = place(args)
    if where.ranks > 1 or where.hosts:
        return train_on(where, argv, listening(args.sigint_effect, args.sighup_effect))
    with told():
        return train(options_of(args, argv))


def _as_rank(argv: list[str]) -> int:
    """Train as one of the ranks that mpirun has started."""
    rank, ranks = rank_and_size()
    with all_or_none(rank):
        die_with_parent()
        lifeline.say(lifeline.START, f"{rank} {os.getpid()}")
        tune_mpi()
        args = parse(argv)
        options = options_of(args, argv)
        log_to_stderr()
        with Watchdog(min(CONNECT_SECONDS, 5 * options.cluster.stall_timeout)) as watchdog:
            watchdog.waiting("the start of MPI", [r for r in range(ranks) if r != rank])
            communicator = connect()
            watchdog.done()
        asked = asked_ranks(args)
        if asked not in (None, ranks, args.as_ranks):
            raise NetError(f"--ranks {asked}, but mpirun started {ranks}")
        return train(options, communicator)


def parse(argv: list[str]) -> argparse.Namespace:
    args = _parser().parse_args(argv)
    state = os.environ.get(lifeline.RESUME)
    if state:
        args.resume, args.snapshot, args.weights = state, "", ""
    return args


def place(args: argparse.Namespace) -> Place:
    """Where the flags want ranks: a GPU each, so many here, or on hosts."""
    ranks = asked_ranks(args)
    if args.gpu and not args.hostfile:
        count = len(devices(args.gpu, args.engine))
        if ranks not in (None, count):
            raise NetError(f"-gpu {args.gpu} means {count} ranks, --ranks asks for {ranks}")
        ranks = count
    return Place.of(ranks, args.hostfile)


def options_of(args: argparse.Namespace, argv: list[str]) -> TrainOptions:
    names = {field.name for field in dataclasses.fields(TrainOptions)}
    given = {name: value for name, value in vars(args).items() if name in names}
    if args.gpu:
        ids = devices(args.gpu, args.engine)
        given["device"] = ids[local_rank() % len(ids)]
    if args.as_ranks is not None and args.as_ranks < 1:
        raise NetError(f"--as-ranks {args.as_ranks}: there is at least one")
    cluster = cluster_settings(args, seconds(args.stall_timeout))
    given["cluster"] = dataclasses.replace(cluster, deterministic=args.deterministic)
    return TrainOptions(**given, command="pcd train " + shlex.join(argv))


def _parser() -> Parser:
    p = parser("train", __doc__)
    caffe = p.add_argument_group("Caffe's flags")
    flag(caffe, "solver", required=True, metavar="FILE", help="the solver's prototxt")
    flag(caffe, "weights", default="", metavar="FILES", help="start from these, comma-separated")
    flag(caffe, "snapshot", default="", metavar="FILE", help="resume from this .solverstate")
    add_state(caffe)
    add_gpu(caffe)
    flag(caffe, "sigint_effect", choices=EFFECTS, default="stop", help="what Ctrl-C does")
    flag(caffe, "sighup_effect", choices=EFFECTS, default="snapshot", help="what SIGHUP does")

    _add_run(p.add_argument_group("the run"))

    add_cluster(p)

    data = p.add_argument_group("data")
    flag(data, "data_threads", type=int, metavar="N", help="threads that prepare batches; 0: none")
    flag(data, "shuffle", action="store_true", help="a new order of all records every epoch")
    text = "what to do at a record that cannot be read"
    flag(data, "bad_records", choices=("stop", "skip"), default="stop", help=text)

    keep = p.add_argument_group("snapshots")
    flag(keep, "resume", metavar="auto|FILE", help="auto: the newest whole snapshot, if any")
    text = "write snapshots while training continues, from a copy in memory"
    flag(keep, "snapshot_async", action="store_true", help=text)
    flag(keep, "keep_last", type=int, default=0, metavar="K", help="delete older ones; 0: keep all")
    flag(keep, "keep_best", default="", metavar="OUTPUT", help="snapshot at the best test score")

    out = p.add_argument_group("what it says")
    flag(out, "run_dir", metavar="DIR", help="settings, log, metrics and snapshots in one folder")
    flag(out, "log_file", metavar="FILE", help="the log here too")
    flag(out, "report", default="", metavar="NAMES", help="besides: tensorboard, wandb, mlflow")
    return p


def _add_run(run: Group) -> None:
    """What is changed in the files, how long it runs, and where it computes."""
    run.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="change the solver"
    )
    run.add_argument(
        "--set-net", action="append", default=[], metavar="LAYER.FIELD=VALUE", help="change the net"
    )
    flag(run, "max_iter", type=int, metavar="N", help="stop after this iteration")
    flag(run, "max_time", metavar="T", help="stop after a time: 90, 90s, 15m, 2h; with a snapshot")
    flag(run, "stop_when", default="", metavar="GOAL", help="stop at a test score: accuracy>=0.99")
    flag(run, "dry_run", type=int, metavar="N", help="N iterations, no files")
    flag(run, "seed", type=int, metavar="N", help="random_seed")
    run.add_argument("--deterministic", action="store_true", help="the same numbers every time")
    flag(run, "fake_data", action="store_true", help="made-up batches instead of every source")
    add_engine(run)
    text = "what to do when the loss is NaN or infinite"
    flag(run, "on_nan", choices=("stop", "snapshot", "continue"), default="stop", help=text)
    add_import(run)
