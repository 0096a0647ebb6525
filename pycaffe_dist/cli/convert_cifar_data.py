"""Make databases of CIFAR-10's batches: pcd convert_cifar_data IN_DIR OUT_DIR DB_TYPE."""

from __future__ import annotations

from pathlib import Path

from pycaffe_dist.cli._flags import parser
from pycaffe_dist.data.database import BACKENDS
from pycaffe_dist.tools.convert_cifar_data import convert_cifar_data


def main(argv: list[str]) -> int:
    p = parser("convert_cifar_data", __doc__)
    p.add_argument("source", type=Path, metavar="IN_DIR", help="has data_batch_1.bin and so on")
    p.add_argument("folder", type=Path, metavar="OUT_DIR", help="for cifar10_train_<DB_TYPE> ...")
    p.add_argument("backend", choices=BACKENDS, metavar="DB_TYPE", help="lmdb or leveldb")
    args = p.parse_args(argv)
    for path, count in convert_cifar_data(args.source, args.folder, args.backend).items():
        print(f"{path}: {count:,} records")
    return 0
