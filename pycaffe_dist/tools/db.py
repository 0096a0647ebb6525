"""What ``pcd db`` does: look into a database."""

from __future__ import annotations

from collections import Counter as Histogram
from dataclasses import dataclass, field

from pycaffe_dist.aliases import Array
from pycaffe_dist.data.annotations import Boxes, either_record, labels_in
from pycaffe_dist.data.contact_sheet import with_boxes, write_sheet
from pycaffe_dist.data.database import kind_of, records_of, size_of
from pycaffe_dist.data.datum import datum_pixels
from pycaffe_dist.data.encoded import encoded_shape
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import PcdError
from pycaffe_dist.proto.caffe_pb2 import Datum
from pycaffe_dist.tools.counter import Counter
from pycaffe_dist.tools.label_histogram import label_histogram

SHEET_IMAGES = 100
MOST_SHAPES = 10
Shape = tuple[int, int, int]


@dataclass
class Contents:
    """What is in a database, as far as it was read."""

    path: str
    kind: str
    count: int = 0
    size: int = 0  # of all values, in bytes
    first_key: bytes = b""
    last_key: bytes = b""
    shapes: Histogram[tuple[str, Shape]] = field(default_factory=Histogram)  # by what they hold
    labels: Histogram[int] = field(default_factory=Histogram)
    boxed: bool = False  # labels are those of boxes
    bad: dict[bytes, str] = field(default_factory=dict)  # why, by key
    images: list[tuple[Array, str]] = field(default_factory=list)  # the first, with their labels


def look_into(path: str, *, verify: bool = False, sheet: bool = False) -> Contents:
    """Read every record; with ``verify`` decode each, with ``sheet`` keep the first images.

    Raises:
        FileError: the database is empty, or cannot be read.
    """
    kind = kind_of(path)
    contents = Contents(path, kind)
    with Counter("records", size_of(path, kind)) as counter:
        for key, value in records_of(path, kind):
            contents.first_key = contents.first_key or key
            contents.last_key = key
            contents.count += 1
            contents.size += len(value)
            try:
                _note(contents, *either_record(value), verify, sheet)
            except ValueError as e:
                contents.bad[key] = str(e)
            counter.add()
    return contents


def _note(contents: Contents, datum: Datum, boxes: Boxes | None, verify: bool, sheet: bool) -> None:
    if datum.encoded:
        holds, shape = encoded_shape(datum.data)
    else:
        holds = "bytes" if datum.data else "floats"
        shape = datum.channels, datum.height, datum.width
    wanted = sheet and len(contents.images) < SHEET_IMAGES
    if verify or wanted:
        pixels = datum_pixels(datum)
        if wanted and pixels.size:
            shown = pixels if boxes is None else with_boxes(pixels, boxes)
            contents.images.append((shown, ", ".join(map(str, labels_in(datum, boxes)))))
    contents.shapes[holds, shape] += 1
    contents.boxed |= boxes is not None
    contents.labels.update(labels_in(datum, boxes))


def write_contact_sheet(path: str, contents: Contents) -> None:
    """Write the first images as one PNG.

    Raises:
        PcdError: there are none.
    """
    if not contents.images:
        raise PcdError(f"{contents.path}: has no image to show")
    write_sheet(path, contents.images)


def as_lines(contents: Contents) -> list[str]:
    """The contents for people."""
    kind = {"lmdb": "LMDB", "leveldb": "LevelDB"}[contents.kind]
    lines = [f"{contents.path}: {kind}, {contents.count:,} records, {contents.size:,} bytes"]
    lines.append(f"keys: {key_text(contents.first_key)} to {key_text(contents.last_key)}")
    for (holds, shape), count in contents.shapes.most_common(MOST_SHAPES):
        lines.append(f"{'x'.join(map(str, shape))} {holds}: {count:,} records")
    if len(contents.shapes) > MOST_SHAPES:
        lines.append(f"... and {len(contents.shapes) - MOST_SHAPES:,} other shapes")
    what = "boxes" if contents.boxed else "records"
    return lines + label_histogram(contents.labels, what=what)


def bad_lines(contents: Contents) -> list[str]:
    """A line for each bad record."""
    return [f"record {key_text(key)} {why}" for key, why in contents.bad.items()]
