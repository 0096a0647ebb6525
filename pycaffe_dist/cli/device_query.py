"""Show the GPUs as `caffe device_query` does: pcd device_query --gpu 0."""

from __future__ import annotations

from pycaffe_dist import caffe_log as log
from pycaffe_dist.cli._flags import add_gpu, devices, parser
from pycaffe_dist.report.glog import log_to_stderr


def main(argv: list[str]) -> int:
    p = parser("device_query", __doc__)
    add_gpu(p)
    args = p.parse_args(argv)
    if not args.gpu:  # Caffe prints nothing, too
        return 0
    log_to_stderr()
    from pycaffe_dist.engines.cupy.devices import describe  # needed by few, and slow to import

    log.info("caffe.cpp:138", "Querying GPUs %s", args.gpu)
    for device in devices(args.gpu):
        for what, value in describe(device):
            log.info("common.cpp:178", "%-30s %s", what + ":", value)
    return 0
