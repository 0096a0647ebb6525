"""Make a database of MNIST's files: pcd convert_mnist_data [--backend lmdb] IMAGES LABELS DB."""

from __future__ import annotations

from pathlib import Path

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.data.database import BACKENDS
from pycaffe_dist.tools.convert_mnist_data import convert_mnist_data


def main(argv: list[str]) -> int:
    p = parser("convert_mnist_data", __doc__)
    p.add_argument("images", type=Path, metavar="IMAGES", help="idx3 file, gzipped or not")
    p.add_argument("labels", type=Path, metavar="LABELS", help="idx1 file, gzipped or not")
    p.add_argument("database", metavar="DB", help="is made")
    flag(p, "backend", choices=BACKENDS, default="lmdb", help="kind of the database")
    args = p.parse_intermixed_args(argv)
    count = convert_mnist_data(args.images, args.labels, args.database, args.backend)
    print(f"{args.database}: {count:,} records")
    return 0
