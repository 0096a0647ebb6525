"""Score a model as `caffe test` does: pcd test -model NET -weights FILE [-iterations 50]."""

from __future__ import annotations

from pycaffe_dist.cli._flags import add_engine, add_gpu, add_state, flag, parser, use_engine
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.model import read_model
from pycaffe_dist.tools.test import test_model


def main(argv: list[str]) -> int:
    p = parser("test", __doc__)
    flag(p, "model", required=True, metavar="FILE", help="the net's prototxt")
    flag(p, "weights", required=True, metavar="FILE", help="a .caffemodel, binary or HDF5")
    flag(p, "iterations", type=int, default=50, metavar="N", help="batches")
    flag(p, "fake_data", action="store_true", help="made-up batches instead of every source")
    add_state(p)
    add_gpu(p)
    add_engine(p)
    args = p.parse_args(argv)
    log_to_stderr()
    use_engine(args)
    net = read_model(args.model, "TEST", args.level, args.stage.split(","), args.fake_data)
    test_model(net, args.weights, args.iterations)
    return 0
