"""MNIST's idx files as Datum records, as Caffe's convert_mnist_data makes them."""

from __future__ import annotations

import gzip
import io
import math
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.lmdb_writer import Record, image_record
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes, reading

IMAGES_MAGIC = 2051
LABELS_MAGIC = 2049
LARGEST_LABEL = 127  # Caffe reads labels as signed bytes
GZIP_MAGIC = b"\x1f\x8b"
MOST_BYTES = 128 << 20  # unpacked, or
MOST_GROWTH = 200  # times what is gzipped


def convert_mnist_data(images_path: Path, labels_path: Path, database: str, backend: str) -> int:
    """Make a new database of two idx files and return its number of records.

    Raises:
        FileError: see :func:`mnist_records`; or the database exists or cannot be written.
    """
    return write_database(database, backend, mnist_records(images_path, labels_path))


def mnist_records(images_path: Path, labels_path: Path) -> Iterator[Record]:
    """A record for each image, with keys 00000000, 00000001, ...

    Raises:
        FileError: a file is missing, damaged or of another kind, or the two do not belong together.
    """
    images, labels = read_pair(images_path, labels_path)
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        yield image_record(f"{index:08d}", image[np.newaxis], int(label))


def read_pair(images_path: Path, labels_path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The images and their labels; errors as :func:`mnist_records`."""
    images = read_images(images_path)
    labels = read_labels(labels_path)
    if len(images) != len(labels):
        raise FileError(
            f"{images_path} holds {len(images)} images, but {labels_path} {len(labels)} labels; "
            "expected one label per image. Take two files of the same set."
        )
    return images, labels


def read_images(path: Path) -> NDArray[np.uint8]:
    """The images of an idx3 file, gzipped or not, of shape (count, rows, columns)."""
    return _read_idx(path, IMAGES_MAGIC, "images", dimensions=3)


def read_labels(path: Path) -> NDArray[np.uint8]:
    """The labels of an idx1 file, gzipped or not."""
    labels = _read_idx(path, LABELS_MAGIC, "labels", dimensions=1)
    too_large = np.flatnonzero(labels > LARGEST_LABEL)
    if len(too_large):
        index = int(too_large[0])
        raise FileError(
            f"{path}: label {int(labels[index])} of image {index} is out of range; "
            f"expected 0 to {LARGEST_LABEL}."
        )
    return labels


def read_content(path: Path) -> bytes:
    """The bytes of a file, decompressed if it is gzipped."""
    content = read_bytes(path)
    if not content.startswith(GZIP_MAGIC):
        return content
    most = max(MOST_BYTES, MOST_GROWTH * len(content))
    with reading(path, "is gzipped, but damaged or cut short"), gzip.open(io.BytesIO(content)) as f:
        unpacked = f.read(most + 1)
    if len(unpacked) > most:
        raise FileError(
            f"{path}: holds more than {most:,} bytes, too many for a gzipped file of "
            f"{len(content):,}; unpack it first"
        )
    return unpacked


def _read_idx(path: Path, magic: int, kind: str, dimensions: int) -> NDArray[np.uint8]:
    """An idx file: big-endian magic number and dimensions, then a byte for each element."""
    content = read_content(path)
    header_size = 4 * (1 + dimensions)
    if len(content) < header_size:
        raise FileError(
            f"{path}: is cut short: {len(content)} bytes, and the header alone has {header_size}."
        )
    found, *shape = struct.unpack_from(f">{1 + dimensions}I", content)
    if found != magic:
        raise FileError(
            f"{path}: is not an idx file of {kind}: its magic number is {found}, expected {magic}."
        )
    expected = header_size + math.prod(shape)
    if len(content) != expected:
        raise FileError(
            f"{path}: has {len(content)} bytes, expected {expected} for {kind} of shape "
            f"{'x'.join(map(str, shape))}. Bring the file again."
        )
    elements: NDArray[np.uint8] = np.frombuffer(content, np.uint8, offset=header_size)
    return elements.reshape(tuple(shape))
