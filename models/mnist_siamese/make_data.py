#!/usr/bin/env python
"""Make pairs of MNIST's digits from its databases; see readme.md beside this file."""

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    folder = ROOT / "data" / "mnist"
    parser.add_argument("--from", dest="origin", type=Path, default=folder, help="where MNIST is")
    parser.add_argument("--out", type=Path, default=folder, help="folder for the databases")
    parser.add_argument("--force", action="store_true", help="replace existing databases")
    options = parser.parse_args()

    databases = []
    for part in ("train", "test"):
        origin = options.origin / f"mnist_{part}_lmdb"
        if not origin.exists():
            raise FileError(f"{origin}: is missing; run first: python data/mnist/get_mnist.py")
        pairs = partial(records, origin)
        databases.append(Database(f"mnist_siamese_{part}_lmdb", count_records(origin), pairs))
    make_databases(options.out, databases, force=options.force, say=print)


def records(origin: Path) -> Iterator[Record]:
    """As many pairs as there are digits, both drawn at random; 1 if they are the same digit."""
    images, labels = digits(origin)
    # RandomState and not default_rng: its numbers are the same in every version of NumPy.
    rng = np.random.RandomState(1)
    for index, (a, b) in enumerate(rng.randint(len(images), size=(len(images), 2))):
        pair = np.concatenate([images[a], images[b]])
        yield image_record(f"{index:08d}", pair, int(labels[a] == labels[b]))


def digits(origin: Path) -> tuple[list[np.ndarray], list[int]]:
    with lmdb.open(str(origin), readonly=True, lock=False) as env, env.begin() as transaction:
        datums = [parse_datum(value) for _, value in transaction.cursor()]
    return [datum_pixels(datum) for datum in datums], [datum.label for datum in datums]


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
