"""Deal the records of a database to several: pcd partition_data [--num-partitions 2] DB_PATH."""

from __future__ import annotations

from pycaffe_dist.cli._flags import flag, parser
from pycaffe_dist.data.database import BACKENDS
from pycaffe_dist.tools.partition_data import partition_data


def main(argv: list[str]) -> int:
    p = parser("partition_data", __doc__)
    p.add_argument("database", metavar="DB_PATH", help="makes DB_PATH_0, DB_PATH_1, ...")
    flag(p, "backend", choices=BACKENDS, help="kind of the database; found out if not given")
    flag(p, "num_partitions", type=int, default=2, metavar="N", help="how many")
    args = p.parse_intermixed_args(argv)
    for path, count in partition_data(args.database, args.num_partitions, args.backend).items():
        print(f"{path}: {count:,} records")
    return 0
