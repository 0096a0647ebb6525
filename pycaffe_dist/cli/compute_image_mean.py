"""Compute the mean image of a database: pcd compute_image_mean INPUT_DB [OUTPUT_FILE]."""

from __future__ import annotations

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.data.database import BACKENDS
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.tools.compute_image_mean import compute_image_mean


def main(argv: list[str]) -> int:
    p = parser("compute_image_mean", __doc__)
    p.add_argument("database", metavar="INPUT_DB", help="LMDB or LevelDB")
    p.add_argument("output", nargs="?", metavar="OUTPUT_FILE", help="a .binaryproto")
    flag(p, "backend", choices=BACKENDS, help="kind of the database; found out if not given")
    args = p.parse_intermixed_args(argv)
    log_to_stderr()
    mean = compute_image_mean(args.database, args.output, args.backend)
    shape = "x".join(map(str, mean.image.shape))
    print(f"mean of {mean.count:,} images of {shape}" + (f" in {args.output}" * bool(args.output)))
    return 0
