"""Image files as a database of Datum records, as Caffe's convert_imageset makes them.

Unlike Caffe's, it decodes in several threads, names the files that it could not read, and also
takes a folder that has a folder for each class.
"""

from __future__ import annotations

import os
from collections import Counter as Histogram
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.data.database import new_database
from pycaffe_dist.data.draws import shuffle
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.image import Color, Pixels, read_image
from pycaffe_dist.data.lmdb_writer import RECORDS_PER_COMMIT
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import read_bytes
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.tools.counter import Counter
from pycaffe_dist.tools.ordered_map import ordered_map, usable_cores

Entry = tuple[str, int]  # the path below the root, and the label


@dataclass
class ImagesetOptions:
    """The flags of ``pcd convert_imageset``, by their names."""

    gray: bool = False
    shuffle: bool = False
    backend: str = "lmdb"
    resize_width: int = 0
    resize_height: int = 0
    check_size: bool = False
    encoded: bool = False
    encode_type: str = ""
    subsampling: float = 1.0
    label_range: int = -1
    seed: int | None = None
    threads: int = field(default_factory=usable_cores)


@dataclass
class Converted:
    """What became of the images."""

    labels: Histogram[int] = field(default_factory=Histogram)
    unreadable: list[str] = field(default_factory=list)  # messages that begin with the path

    @property
    def count(self) -> int:
        return sum(self.labels.values())


def convert_imageset(
    root: str, entries: Sequence[Entry], database: str, options: ImagesetOptions
) -> Converted:
    """Make ``database`` of the images ``root + path``, in their order or shuffled.

    Raises:
        FileError: it exists already or cannot be written, no image can be read, or images have
            different sizes and ``check_size`` forbids it.
        PcdError: options contradict each other.
    """
    _check(options)
    entries = _chosen(entries, options)
    log.info("convert_imageset.cpp:84", "A total of %d images.", len(entries))
    if options.encode_type and not options.encoded:
        log.info("convert_imageset.cpp:87", "encode_type specified, assuming encoded=true.")
    converted = Converted()
    size = None
    with (
        new_database(database, options.backend) as put,
        Counter("images", len(entries)) as counter,
    ):
        for (i, (path, label)), datum in _datums(root, entries, options):
            counter.add()
            if isinstance(datum, FileError):
                converted.unreadable.append(str(datum))
                continue
            if options.check_size:
                size = size or (len(datum.data), path)
                _check_size(root, path, len(datum.data), *size)
            key = f"{i:08d}_{path}".encode(errors="surrogateescape")
            put(key, datum.SerializeToString())
            converted.labels[label] += 1
            if converted.count % RECORDS_PER_COMMIT == 0:
                counter.log("convert_imageset.cpp:143", "Processed %d files.", converted.count)
        if not converted.count:
            raise _nothing_read(root, converted.unreadable)
    if converted.count % RECORDS_PER_COMMIT:
        log.info("convert_imageset.cpp:149", "Processed %d files.", converted.count)
    return converted


def class_folders(root: str) -> tuple[list[Entry], list[str]]:
    """The files of a folder of class folders, class by class, and the classes in their order.

    Raises:
        FileError: it cannot be read, or has no class folders with files.
    """
    try:
        classes = sorted(e.name for e in os.scandir(root) if e.is_dir() and _shown(e.name))
        entries = [
            (path, label)
            for label, name in enumerate(classes)
            for path in sorted(_files(root, name))
        ]
    except OSError as e:
        raise FileError(f"{root}: cannot be read: {e.strerror or e}") from e
    if not entries:
        raise FileError(
            f"{root}: expected a folder for each class with its images, found "
            f"{len(classes)} folders and no files in them. With a list of images, the arguments "
            "are ROOTFOLDER/ LISTFILE DB_NAME."
        )
    return entries, classes


def _files(root: str, folder: str) -> Iterator[str]:
    for entry in os.scandir(os.path.join(root, folder)):
        path = f"{folder}/{entry.name}"
        if not _shown(entry.name):
            continue
        if entry.is_dir():
            yield from _files(root, path)
        else:
            yield path


def _shown(name: str) -> bool:
    return not name.startswith(".")


# -- which images ------------------------------------------------------------------------------


def _check(options: ImagesetOptions) -> None:
    if options.check_size and (options.encoded or options.encode_type):
        raise PcdError(
            "-check_size compares raw images, and -encoded or -encode_type store none. "
            "Leave one of them out, or resize with -resize_height and -resize_width."
        )
    if not 0 < options.subsampling <= 1:
        raise PcdError(f"-subsampling {options.subsampling:g}: give a part above 0, up to 1")


def _chosen(entries: Sequence[Entry], options: ImagesetOptions) -> list[Entry]:
    """Those in the range of labels and the sample, shuffled if asked for."""
    rng = np.random.RandomState(options.seed)
    chosen = list(entries)
    if options.label_range >= 0:
        chosen = [entry for entry in chosen if entry[1] <= options.label_range]
    if options.subsampling < 1:
        chosen = [entry for entry in chosen if rng.random_sample() < options.subsampling]
    if not chosen:
        raise PcdError("-label_range and -subsampling leave no image")
    if options.shuffle:
        log.info("convert_imageset.cpp:81", "Shuffling data")
        shuffle(rng, chosen)
    return chosen


# -- one image ---------------------------------------------------------------------------------


def _datums(
    root: str, entries: Sequence[Entry], options: ImagesetOptions
) -> Iterator[tuple[tuple[int, Entry], Datum | FileError]]:
    def make(numbered: tuple[int, Entry]) -> tuple[tuple[int, Entry], Datum | FileError]:
        path, label = numbered[1]
        encoding = _encoding(path, options)
        try:
            return numbered, image_datum(root + path, label, encoding, options)
        except FileError as e:
            return numbered, e

    return ordered_map(make, enumerate(entries), options.threads)


def _encoding(path: str, options: ImagesetOptions) -> str:
    """What an image is encoded as; "" for raw pixels."""
    if options.encode_type or not options.encoded:
        return options.encode_type
    _, dot, extension = path.rpartition(".")
    if not dot:
        raise _Stop(f"{path}: has no extension that tells its encoding; give -encode_type")
    return extension.lower()


def image_datum(path: str, label: int, encoding: str, options: ImagesetOptions) -> Datum:
    """The record of an image file.

    Raises:
        FileError: it cannot be read.
    """
    height, width = max(0, options.resize_height), max(0, options.resize_width)
    image = read_image(path, height, width, Color.GRAY if options.gray else Color.COLOR)
    if not encoding:
        return _raw_datum(image, label)
    if not height and not width and _is_encoded_as(path, encoding):
        data = read_bytes(path)
    else:
        try:
            data = encode(image, encoding)
        except ValueError as e:
            raise _Stop(f"{path}: {e}") from e
    return Datum(data=data, label=label, encoded=True)


def _raw_datum(image: Pixels, label: int) -> Datum:
    height, width, channels = image.shape
    return Datum(
        channels=channels,
        height=height,
        width=width,
        data=image.transpose(2, 0, 1).tobytes(),
        label=label,
        encoded=False,  # written out, as Caffe does
    )


def _is_encoded_as(path: str, encoding: str) -> bool:
    extension, encoding = path.rpartition(".")[2].lower(), encoding.lower()
    return extension == encoding or (extension, encoding) == ("jpeg", "jpg")


# -- errors ------------------------------------------------------------------------------------


class _Stop(PcdError):
    """Not of one file alone: the work ends."""


def _check_size(root: str, path: str, found: int, expected: int, first: str) -> None:
    if found != expected:
        raise FileError(
            f"{root}{path}: has {found} values, {first} has {expected}, and -check_size wants "
            "them equal. Resize with -resize_height and -resize_width."
        )


def _nothing_read(root: str, unreadable: Sequence[str]) -> FileError:
    lines = [f"none of the {len(unreadable)} images can be read; {unreadable[0]}"]
    if root and not root.endswith("/"):
        without = f"The root folder {root!r} does not end in a slash"
        lines.append(f"{without}, and paths are appended as they are.")
    return FileError(*lines)
