#!/usr/bin/env python
"""Give CIFAR-10's training images a margin, out of which training crops; see readme.md here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import lmdb
import numpy as np

from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.lmdb_writer import (
    Database,
    Record,
    count_records,
    image_record,
    make_databases,
)
from pycaffe_dist.errors import FileError, PcdError

ROOT = Path(__file__).resolve().parents[2]

MARGIN = 4
MEAN = (125, 123, 114)  # red, green, blue: about 0 once the net has subtracted its mean_value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    folder = ROOT / "data" / "cifar10"
    parser.add_argument(
        "--from", dest="origin", type=Path, default=folder, help="where CIFAR-10 is"
    )
    parser.add_argument("--out", type=Path, default=folder, help="folder for the database")
    parser.add_argument("--force", action="store_true", help="replace an existing database")
    options = parser.parse_args()

    origin = options.origin / "cifar10_train_lmdb"
    if not origin.exists():
        raise FileError(f"{origin}: is missing; run first: python data/cifar10/get_cifar10.py")
    padded = Database("cifar10_padded_train_lmdb", count_records(origin), partial(records, origin))
    make_databases(options.out, [padded], force=options.force, say=print)


def records(origin: Path) -> Iterator[Record]:
    """Every image of 3x32x32 in the middle of 3x40x40."""
    with lmdb.open(str(origin), readonly=True, lock=False) as env, env.begin() as transaction:
        for key, value in transaction.cursor():
            datum = parse_datum(value)
            pixels = datum_pixels(datum)
            channels, height, width = pixels.shape
            padded = np.empty((channels, height + 2 * MARGIN, width + 2 * MARGIN), np.uint8)
            padded[:] = np.reshape(MEAN, (3, 1, 1))
            padded[:, MARGIN:-MARGIN, MARGIN:-MARGIN] = pixels
            yield image_record(key.decode(), padded, datum.label)


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
