"""Show the GPUs as `caffe device_query` does: pcd device_query [--gpu 0]; all, if none is named."""

from __future__ import annotations

import sys

from pycaffe_dist import caffe_log as log
from pycaffe_dist.cli._flags import add_gpu, devices, parser
from pycaffe_dist.errors import MissingPartError
from pycaffe_dist.report.glog import log_to_stderr


def main(argv: list[str]) -> int:
    p = parser("device_query", __doc__)
    add_gpu(p)
    args = p.parse_args(argv)
    log_to_stderr()
    from pycaffe_dist.engines.cupy.devices import describe  # needed by few, and slow to import

    asked = args.gpu or "all"
    log.info("caffe.cpp:138", "Querying GPUs %s", asked)
    try:
        found = devices(asked)
    except MissingPartError as e:
        if args.gpu:
            raise
        print(f"No GPU can be used here: {e}", file=sys.stderr)  # an answer: none was named
        return 0
    log.info("common.cpp:178", "%-30s %s", "cuDNN:", cudnn())
    for device in found:
        for what, value in describe(device):
            log.info("common.cpp:178", "%-30s %s", what + ":", value)
    return 0


def cudnn() -> str:
    """Its version, or that it is not there."""
    from pycaffe_dist.engines.cupy.cudnn import library

    try:
        return str(library.load().release)
    except MissingPartError:
        return "not found"
