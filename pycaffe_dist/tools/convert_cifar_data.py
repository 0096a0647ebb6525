"""CIFAR-10's binary batches as Datum records, as Caffe's convert_cifar_data makes them."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pycaffe_dist.data.database import write_database
from pycaffe_dist.data.lmdb_writer import Record, image_record
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes

TRAIN_BATCHES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST_BATCHES = ("test_batch.bin",)
BATCH_FOLDER = "cifar-10-batches-bin"  # what the published archive unpacks to

IMAGES_PER_BATCH = 10000
IMAGE_SHAPE = (3, 32, 32)  # planes in file order: red, green, blue
CLASSES = 10
RECORD_SIZE = 1 + 3 * 32 * 32  # label, then pixels
BATCH_SIZE = IMAGES_PER_BATCH * RECORD_SIZE


def convert_cifar_data(source: Path, folder: Path, backend: str) -> dict[Path, int]:
    """Make cifar10_train_<backend> and cifar10_test_<backend>; the records of each.

    Raises:
        FileError: see :func:`cifar_records`; or a database exists or cannot be written.
    """
    return {
        path: write_database(path, backend, cifar_records(source, batches))
        for path, batches in (
            (folder / f"cifar10_train_{backend}", TRAIN_BATCHES),
            (folder / f"cifar10_test_{backend}", TEST_BATCHES),
        )
    }


def cifar_records(source: Path, batches: Sequence[str]) -> Iterator[Record]:
    """A record for each image of ``batches`` in turn, with keys 00000, 00001, ...

    Args:
        source: the published archive, the folder of the batches, or the folder around that.
        batches: file names, such as ``TRAIN_BATCHES``.

    Raises:
        FileError: a batch is missing, cut short, or has a label out of range.
    """
    index = 0
    for content, origin in _contents(source, batches):
        labels, images = parse_batch(content, origin)
        for label, image in zip(labels, images, strict=True):
            yield image_record(f"{index:05d}", image, int(label))
            index += 1


def parse_batch(content: bytes, origin: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The labels and the images, of shape (count, 3, 32, 32), of one batch."""
    if len(content) != BATCH_SIZE:
        raise FileError(
            f"{origin}: has {len(content)} bytes, expected {BATCH_SIZE} "
            f"({IMAGES_PER_BATCH} images of {RECORD_SIZE}). Bring the file again."
        )
    rows = np.frombuffer(content, np.uint8).reshape(IMAGES_PER_BATCH, RECORD_SIZE)
    labels = rows[:, 0]
    out_of_range = np.flatnonzero(labels >= CLASSES)
    if len(out_of_range):
        index = int(out_of_range[0])
        raise FileError(
            f"{origin}: label {int(labels[index])} of image {index} is out of range; expected 0 to "
            f"{CLASSES - 1}. It is damaged or not a CIFAR-10 batch."
        )
    return labels, rows[:, 1:].reshape(-1, *IMAGE_SHAPE)


def _contents(source: Path, batches: Sequence[str]) -> Iterator[tuple[bytes, str]]:
    """The bytes of each batch and where they came from."""
    if source.is_file():
        yield from _archive_contents(source, batches)
        return
    inner = source / BATCH_FOLDER
    folder = inner if inner.is_dir() else source
    for name in batches:
        path = folder / name
        yield read_bytes(path), str(path)


def _archive_contents(source: Path, batches: Sequence[str]) -> Iterator[tuple[bytes, str]]:
    try:
        with tarfile.open(source) as archive:
            for name in batches:
                member = archive.extractfile(f"{BATCH_FOLDER}/{name}")
                if member is None:
                    raise FileError(f"{source}: {BATCH_FOLDER}/{name} is not a file.")
                yield member.read(BATCH_SIZE + 1), f"{source}:{name}"
    except KeyError as e:
        raise FileError(f"{source}: holds no batch of CIFAR-10: {e.args[0]}") from e
    except (OSError, EOFError, tarfile.TarError, zlib.error) as e:
        raise FileError(f"{source}: is damaged or not a tar archive: {e}") from e
