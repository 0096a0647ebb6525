"""Show the GPUs as `caffe device_query` does: pcd device_query -gpu 0."""

from __future__ import annotations

from pycaffe_dist.cli._flags import add_gpu, parser, refuse_gpu


def main(argv: list[str]) -> int:
    p = parser("device_query", __doc__)
    add_gpu(p)
    args = p.parse_args(argv)
    refuse_gpu(bool(args.gpu))  # without -gpu Caffe prints nothing, too
    return 0
