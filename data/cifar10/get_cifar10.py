#!/usr/bin/env python
"""Download CIFAR-10, or take it from a folder; make cifar10_train_lmdb and cifar10_test_lmdb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pycaffe_dist.data.download import check_md5, fetch_all
from pycaffe_dist.data.lmdb_writer import Database, Record, make_databases
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.tools.convert_cifar_data import (
    BATCH_FOLDER,
    IMAGES_PER_BATCH,
    TEST_BATCHES,
    TRAIN_BATCHES,
    cifar_records,
)

MIRRORS = ("https://www.cs.toronto.edu/~kriz/",)
ARCHIVE = "cifar-10-binary.tar.gz"
ARCHIVE_MD5 = "c32a1d4ab5d03f1284b67883e8d87530"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="DIR",
        help=f"folder with {ARCHIVE} or its batches",
    )
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parent, help="folder for the databases"
    )
    parser.add_argument("--force", action="store_true", help="replace existing databases")
    parser.add_argument("--mirror", action="append", help="address to download from (repeatable)")
    options = parser.parse_args()

    databases = [
        Database(name, IMAGES_PER_BATCH * len(batches), partial(records, options, batches))
        for name, batches in (
            ("cifar10_train_lmdb", TRAIN_BATCHES),
            ("cifar10_test_lmdb", TEST_BATCHES),
        )
    ]
    make_databases(options.out, databases, force=options.force, say=print)


def records(options: argparse.Namespace, batches: Sequence[str]) -> Iterator[Record]:
    folder = options.source or download(options)
    return cifar_records(find_originals(folder), batches)


def download(options: argparse.Namespace) -> Path:
    folder: Path = options.out / "download"
    fetch_all(
        {ARCHIVE: ARCHIVE_MD5},
        options.mirror or MIRRORS,
        folder,
        by_hand=f"python {sys.argv[0]} --from DIR",
        say=print,
    )
    return folder


def find_originals(folder: Path) -> Path:
    """The archive if it is there, since it has a checksum, or else the folder of the batches."""
    archive = folder / ARCHIVE
    if archive.is_file():
        check_md5(archive.read_bytes(), ARCHIVE_MD5, str(archive))
        return archive
    if any((place / TEST_BATCHES[0]).is_file() for place in (folder, folder / BATCH_FOLDER)):
        return folder
    raise FileError(
        f"{folder}: holds neither {ARCHIVE} nor {', '.join(TRAIN_BATCHES + TEST_BATCHES)} "
        f"(here or in {BATCH_FOLDER})."
    )


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
