"""Image files as a database of Datum records, as Caffe's convert_imageset makes them.

Unlike Caffe's, it decodes in several threads, names the files that it could not read, and also
takes a folder that has a folder for each class.
"""

from __future__ import annotations

import os
from collections import Counter as Histogram
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pycaffe_dist import caffe_log as log
from pycaffe_dist.data.database import new_database
from pycaffe_dist.data.draws import shuffle
from pycaffe_dist.data.encoded import encode
from pycaffe_dist.data.image import Color, Pixels, read_image, resize
from pycaffe_dist.data.lmdb_writer import LABELS, RECORDS_PER_COMMIT
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import atomic_write, read_bytes
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.tools.counter import Counter
from pycaffe_dist.tools.ordered_map import ordered_map, usable_cores

# What a record is made of besides pixels: a label, a file of annotations, an entry of COCO's file.
About = Any
Entry = tuple[str, About]  # the path below the root


@dataclass
class ImagesetOptions:
    """The flags of ``pcd convert_imageset`` and, to the smaller part, of ``convert_annoset``."""

    gray: bool = False
    shuffle: bool = False
    backend: str = "lmdb"
    resize_width: int = 0
    resize_height: int = 0
    min_dim: int = 0
    max_dim: int = 0
    check_size: bool = False
    encoded: bool = False
    encode_type: str = ""
    subsampling: float = 1.0
    label_range: int = -1
    seed: int | None = None
    redo: bool = False
    threads: int = field(default_factory=usable_cores)


@dataclass
class Record:
    """What becomes of an image: the bytes, how many values it has, the labels of what it shows."""

    data: bytes
    values: int
    labels: Sequence[int]
    notes: Sequence[str] = ()


Make = Callable[[str, About, str, ImagesetOptions], Record]  # of a path, a label and an encoding


@dataclass
class Converted:
    """What became of the images."""

    count: int = 0
    labels: Histogram[int] = field(default_factory=Histogram)
    unreadable: list[str] = field(default_factory=list)  # messages that begin with the path
    notes: list[str] = field(default_factory=list)  # on records that are odd

    def add(self, record: Record) -> None:
        self.count += 1
        self.labels.update(record.labels)
        self.notes += record.notes


def convert_imageset(
    root: str,
    entries: Sequence[Entry],
    database: str,
    options: ImagesetOptions,
    make: Make | None = None,
    source: str = "convert_imageset.cpp",
) -> Converted:
    """Make ``database`` of the images ``root + path``, in their order or shuffled.

    ``make`` makes the records, which are Datums otherwise; ``source`` stands in the log.

    Raises:
        FileError: it exists already or cannot be written, no image can be read, or images have
            different sizes and ``check_size`` forbids it.
        PcdError: options contradict each other.
    """
    _check(options)
    entries = _chosen(entries, options)
    log.info(f"{source}:84", "A total of %d images.", len(entries))
    if options.encode_type and not options.encoded:
        log.info(f"{source}:87", "encode_type specified, assuming encoded=true.")
    converted = Converted()
    size = None
    with (
        new_database(database, options.backend, replace=options.redo) as put,
        Counter("images", len(entries)) as counter,
    ):
        for (i, (path, _)), record in _records(root, entries, options, make or datum_record):
            counter.add()
            if isinstance(record, FileError):
                converted.unreadable.append(str(record))
                continue
            if options.check_size:
                size = size or (record.values, path)
                _check_size(root, path, record.values, *size)
            key = f"{i:08d}_{path}".encode(errors="surrogateescape")
            put(key, record.data)
            converted.add(record)
            if converted.count % RECORDS_PER_COMMIT == 0:
                counter.log(f"{source}:143", "Processed %d files.", converted.count)
        if not converted.count:
            raise _nothing_read(root, converted.unreadable)
    if converted.count % RECORDS_PER_COMMIT:
        log.info(f"{source}:149", "Processed %d files.", converted.count)
    return converted


def write_labels(folder: str, names: Sequence[str]) -> str:
    """Write the names of the classes, one on each line, into a folder; the file."""
    path = os.path.join(folder, LABELS)
    with atomic_write(path) as file:
        for name in names:
            file.write(" ".join(name.split()).encode(errors="surrogateescape") + b"\n")
    return path


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
            f"{len(classes)} folders and no files in them"
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


def _records(
    root: str, entries: Sequence[Entry], options: ImagesetOptions, make: Make
) -> Iterator[tuple[tuple[int, Entry], Record | FileError]]:
    def record(numbered: tuple[int, Entry]) -> tuple[tuple[int, Entry], Record | FileError]:
        path, label = numbered[1]
        encoding = _encoding(path, options)
        try:
            return numbered, make(root + path, label, encoding, options)
        except FileError as e:
            return numbered, e

    return ordered_map(record, enumerate(entries), options.threads)


def datum_record(path: str, label: int, encoding: str, options: ImagesetOptions) -> Record:
    datum = image_datum(read(path, options), path, label, encoding, options)
    return Record(datum.SerializeToString(), len(datum.data), [label])


def _encoding(path: str, options: ImagesetOptions) -> str:
    """What an image is encoded as; "" for raw pixels."""
    if options.encode_type or not options.encoded:
        return options.encode_type
    _, dot, extension = path.rpartition(".")
    if not dot:
        raise Stop(f"{path}: has no extension that tells its encoding; give -encode_type")
    return extension.lower()


def read(path: str, options: ImagesetOptions) -> Pixels:
    """An image file, grey or in colour.

    Raises:
        FileError: it cannot be read.
    """
    return read_image(path, color=Color.GRAY if options.gray else Color.COLOR)


def image_datum(
    image: Pixels, path: str, label: int, encoding: str, options: ImagesetOptions
) -> Datum:
    """The Datum of an image that was read from ``path``."""
    image = resize(image, *_wanted(image.shape, options))
    if not encoding:
        return _raw_datum(image, label)
    sizes = options.resize_height, options.resize_width, options.min_dim, options.max_dim
    if max(sizes) <= 0 and _is_encoded_as(path, encoding):
        data = read_bytes(path)
    else:
        try:
            data = encode(image, encoding)
        except ValueError as e:
            raise Stop(f"{path}: {e}") from e
    return Datum(data=data, label=label, encoded=True)


def _wanted(shape: tuple[int, ...], options: ImagesetOptions) -> tuple[int, int]:
    """The height and width asked for; or with the same proportions, so that the shorter side has
    at least ``min_dim`` pixels and, which counts more, the longer one at most ``max_dim``.
    """
    height, width = shape[:2]
    if options.resize_height > 0 and options.resize_width > 0:
        return options.resize_height, options.resize_width
    short, long = min(height, width), max(height, width)
    scale = np.float32(1)
    if 0 < short < options.min_dim:
        scale = np.float32(options.min_dim) / np.float32(short)
    if 0 < options.max_dim < int(scale * np.float32(long)):
        scale = np.float32(options.max_dim) / np.float32(long)
    return max(1, round(float(scale) * height)), max(1, round(float(scale) * width))


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


class Stop(PcdError):
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
