"""Train a net as `caffe train` does: pcd train -solver SOLVER [flags].

pcd train -solver solver.prototxt
pcd train -solver solver.prototxt -weights a.caffemodel          (fine-tune)
pcd train -solver solver.prototxt -resume auto -run_dir runs/1   (go on, or begin)
"""

from __future__ import annotations

import argparse
import shlex

from pycaffe_dist.cli._flags import add_gpu, add_state, flag, parser, refuse_gpu
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.parallel.launcher import rank_and_size
from pycaffe_dist.tools.train import TrainOptions, train

EFFECTS = ("stop", "snapshot", "none")


def main(argv: list[str]) -> int:
    args = _parser().parse_args(argv)
    refuse_gpu(bool(args.gpu))
    _, ranks = rank_and_size()
    if ranks > 1:
        raise MissingPartError(
            f"{ranks} ranks were started, but this version trains in one process. Leave mpirun out."
        )
    return train(TrainOptions(**vars(args), command="pcd train " + shlex.join(argv)))


def _parser() -> argparse.ArgumentParser:
    p = parser("train", __doc__)
    caffe = p.add_argument_group("Caffe's flags")
    flag(caffe, "solver", required=True, metavar="FILE", help="the solver's prototxt")
    flag(caffe, "weights", default="", metavar="FILES", help="start from these, comma-separated")
    flag(caffe, "snapshot", default="", metavar="FILE", help="go on from this .solverstate")
    add_state(caffe)
    add_gpu(caffe)
    flag(caffe, "sigint_effect", choices=EFFECTS, default="stop", help="what Ctrl-C does")
    flag(caffe, "sighup_effect", choices=EFFECTS, default="snapshot", help="what SIGHUP does")

    run = p.add_argument_group("the run")
    run.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="change the solver"
    )
    run.add_argument(
        "--set-net", action="append", default=[], metavar="LAYER.FIELD=VALUE", help="change the net"
    )
    flag(run, "max_iter", type=int, metavar="N", help="stop after this iteration")
    flag(run, "max_time", metavar="T", help="stop after a time: 90, 90s, 15m, 2h; with a snapshot")
    flag(run, "dry_run", type=int, metavar="N", help="N iterations, no files")
    flag(run, "seed", type=int, metavar="N", help="random_seed")
    run.add_argument("--deterministic", action="store_true", help="the same numbers every time")
    flag(run, "fake_data", action="store_true", help="made-up batches instead of every source")
    flag(run, "on_nan", choices=("stop", "snapshot", "continue"), default="stop")

    data = p.add_argument_group("data")
    flag(data, "data_threads", type=int, metavar="N", help="threads that prepare batches; 0: none")
    flag(data, "shuffle", action="store_true", help="a new order of all records every epoch")
    flag(data, "bad_records", choices=("stop", "skip"), default="stop", help="unreadable ones")

    keep = p.add_argument_group("snapshots")
    flag(keep, "resume", metavar="auto|FILE", help="auto: the newest whole snapshot, if any")
    flag(keep, "keep_last", type=int, default=0, metavar="K", help="delete older ones")
    flag(keep, "keep_best", default="", metavar="OUTPUT", help="snapshot at the best test score")

    out = p.add_argument_group("what it says")
    flag(out, "run_dir", metavar="DIR", help="settings, log, metrics and snapshots in one folder")
    flag(out, "log_file", metavar="FILE", help="the log here too")
    flag(out, "report", default="", metavar="NAMES", help="besides: tensorboard")
    out.add_argument("-q", "--quiet", action="store_true", help="warnings and errors only")
    out.add_argument("-v", "--verbose", action="store_true", help="and debugging lines")
    return p
