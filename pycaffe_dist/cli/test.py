"""Score a model as `caffe test` does: pcd test --model NET --weights FILE [--iterations 50].

The log has every batch and the means; with -v, or GLOG_v=1, also how the net is built, as Caffe's.
With -q, or GLOG_minloglevel=1, a line for each output is all.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext

from pycaffe_dist import caffe_log
from pycaffe_dist.cli._flags import (
    add_computing,
    add_import,
    add_state,
    flag,
    parser,
    use_engine,
)
from pycaffe_dist.cli._show import show
from pycaffe_dist.errors import visible
from pycaffe_dist.report.caffe_lines import with_loss
from pycaffe_dist.report.glog import LOGGER, log_to_stderr
from pycaffe_dist.tools.inputs import check_weights
from pycaffe_dist.tools.model import read_model
from pycaffe_dist.tools.test import test_model


def main(argv: list[str]) -> int:
    p = parser("test", __doc__)
    net = p.add_argument_group("the net")
    flag(net, "model", required=True, metavar="FILE", help="the net's prototxt")
    flag(net, "weights", required=True, metavar="FILE", help="a .caffemodel, binary or HDF5")
    flag(net, "iterations", type=int, default=50, metavar="N", help="batches to run")
    flag(net, "fake_data", action="store_true", help="made-up batches instead of every source")
    add_state(net)
    add_import(net)
    add_computing(p)
    args = p.parse_args(argv)
    log_to_stderr()
    use_engine(args)
    check_weights([args.weights])
    all_of_it = LOGGER.isEnabledFor(logging.DEBUG)
    with nullcontext() if all_of_it else caffe_log.at_least(max(logging.WARNING, LOGGER.level)):
        stages = args.stage.split(",")
        model = read_model(args.model, "TEST", args.level, stages, args.fake_data, writes=True)
    means = test_model(model, args.weights, args.iterations)
    if not LOGGER.isEnabledFor(logging.INFO):  # the score is what was asked for
        show(*(visible(with_loss(mean)) for mean in means))
    return 0
