#!/usr/bin/env python
"""Make digits_train_lmdb and digits_test_lmdb from digits.npz; see readme.md beside this file.

With --odd: odd_train_lmdb and odd_test_lmdb, whose labels say whether a digit is odd.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.data.lmdb_writer import Database, Record, image_record, make_databases
from pycaffe_dist.errors import FileError, PcdError

HERE = Path(__file__).resolve().parent

SMALL_SIDE = 8
BRIGHTEST = 16  # of the small images
DIGIT_SIDE = 20
MARGIN = 4  # 20x20 in 28x28, as MNIST has it
EVERY_NTH_IS_TEST = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the databases")
    parser.add_argument("--force", action="store_true", help="replace existing databases")
    parser.add_argument("--odd", action="store_true", help="labels 0 and 1: even and odd digits")
    options = parser.parse_args()

    images, labels = load_digits(HERE / "digits.npz")
    images = like_mnist(images)
    name = "odd" if options.odd else "digits"
    labels = labels % 2 if options.odd else labels
    is_test = np.arange(len(labels)) % EVERY_NTH_IS_TEST == 0
    databases = [
        Database(path, int(chosen.sum()), partial(records, images[chosen], labels[chosen]))
        for path, chosen in ((f"{name}_train_lmdb", ~is_test), (f"{name}_test_lmdb", is_test))
    ]
    make_databases(options.out, databases, force=options.force, say=print)


def load_digits(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return arrays["images"], arrays["labels"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as e:
        raise FileError(
            f"{path}: is missing or damaged ({e}). Take it again from the project."
        ) from e


def like_mnist(small: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """8x8 images of 0..16 as 20x20 of 0..255 in a black margin.

    Bilinear, in whole numbers: no rounding depends on a machine or a library.
    """
    weights, one = bilinear_weights(SMALL_SIDE, DIGIT_SIDE)
    large = weights @ small.astype(np.int64) @ weights.T
    white = BRIGHTEST * one * one
    digits = ((2 * 255 * large + white) // (2 * white)).astype(np.uint8)
    return np.pad(digits, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)))


def bilinear_weights(old: int, new: int) -> tuple[NDArray[np.int64], int]:
    """The (new, old) weights of each old pixel in each new one, and what a row of them sums to.

    The centre of new pixel i lies at old position (i + 1/2) * old / new - 1/2, here in units
    of 1 / (2 * new).
    """
    one = 2 * new
    row = np.arange(new)
    position = np.clip((2 * row + 1) * old - new, 0, (old - 1) * one)
    left, past_left = np.divmod(position, one)
    weights = np.zeros((new, old), np.int64)
    weights[row, left] = one - past_left
    weights[row, np.minimum(left + 1, old - 1)] += past_left
    return weights, one


def records(images: NDArray[np.uint8], labels: NDArray[np.uint8]) -> Iterator[Record]:
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        yield image_record(f"{index:08d}", image[np.newaxis], int(label))


if __name__ == "__main__":
    try:
        main()
    except (PcdError, OSError) as e:
        sys.exit(str(e))
