"""Random pairs of MNIST's images for a siamese net, as Caffe's convert_mnist_siamese_data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.draws import raw
from pycaffe_dist.data.lmdb_writer import Record, image_record
from pycaffe_dist.tools.convert_mnist_data import read_pair


def convert_mnist_siamese_data(
    images_path: Path, labels_path: Path, database: str, backend: str, seed: int | None = None
) -> int:
    """Make a new database of as many pairs as there are images; their number.

    Raises:
        FileError: see :func:`siamese_records`; or the database exists or cannot be written.
    """
    return write_database(database, backend, siamese_records(images_path, labels_path, seed))


def siamese_records(
    images_path: Path, labels_path: Path, seed: int | None = None
) -> Iterator[Record]:
    """Records of two channels, an image each; the label is 1 for the same digit, else 0.

    Raises:
        FileError: a file is missing, damaged or of another kind, or the two do not belong together.
    """
    images, labels = read_pair(images_path, labels_path)
    rng = np.random.RandomState(seed)
    for index in range(len(images)):
        pair = [raw(rng) % len(images), raw(rng) % len(images)]
        same = int(labels[pair[0]] == labels[pair[1]])
        yield image_record(f"{index:08d}", images[pair], same)
