"""Images with the boxes of their objects as a database of AnnotatedDatum records, as SSD's
convert_annoset makes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pycaffe_dist.aliases import Facts, Json
from pycaffe_dist.data import label_map
from pycaffe_dist.data.annotation_files import (
    READERS,
    Annotated,
    coco_object,
    coco_size,
    in_parts,
    read_json,
)
from pycaffe_dist.data.annotations import LABEL, Boxes, write_annotated
from pycaffe_dist.data.encoded import encoded_shape
from pycaffe_dist.data.image import Pixels
from pycaffe_dist.data.image_list import read_image_list
from pycaffe_dist.errors import FileError, PcdError
from pycaffe_dist.files import read_bytes, reading
from pycaffe_dist.proto.caffe_pb2 import LabelMap
from pycaffe_dist.proto.wire_format import head
from pycaffe_dist.tools.convert_imageset import (
    About,
    Converted,
    Entry,
    ImagesetOptions,
    Make,
    Record,
    Stop,
    convert_imageset,
    image_datum,
    read,
    write_labels,
)
from pycaffe_dist.tools.create_label_map import coco_label_map

SOURCE = "convert_annoset.cpp"  # of SSD, in the log
MOST_NAMED = 100_000  # classes whose names are kept in the database
NO_LABEL = -1  # of a Datum whose labels are those of its boxes


@dataclass
class AnnosetOptions(ImagesetOptions):
    """The flags of ``pcd convert_annoset``, by their names."""

    anno_type: str = "classification"
    label_type: str = "xml"
    label_map_file: str = ""
    check_label: bool = False


# What the second field of an entry says about an image, and what is odd about it.
Look = Callable[[str, About, tuple[int, int]], tuple[Boxes, list[str]]]


def convert_annoset(
    root: str, list_file: str, database: str, options: AnnosetOptions
) -> tuple[Converted, dict[int, str]]:
    """Make ``database`` of listed images and their annotations; also the names of the labels.

    ``list_file`` has a line for each image: its path below ``root`` and its label, or for
    detection the path of its annotation file.  It may also be COCO's .json of all images.

    Raises:
        FileError: something cannot be read or written; annotations have an unknown class.
        PcdError: options contradict each other.
    """
    if options.anno_type == "classification":
        entries: list[Entry] = list(read_image_list(list_file))
        return convert_imageset(root, entries, database, options, _classified, SOURCE), {}
    classes = LabelMap()
    if options.label_map_file:
        classes = label_map.read_label_map(options.label_map_file)
        if options.check_label:
            label_map.check_unique(classes, options.label_map_file)
    if list_file.endswith(".json"):
        coco = read_json(list_file)
        classes = classes if classes.item else coco_label_map(list_file, coco)
        entries, look = _whole_coco(list_file, coco, label_map.labels(classes))
    else:
        if options.label_type in ("xml", "json") and not classes.item:
            raise PcdError(
                f"-label_type {options.label_type} names classes: give their numbers by "
                "-label_map_file (pcd create_label_map makes one)"
            )
        entries = read_pairs(list_file)
        look = _files(root, options.label_type, label_map.labels(classes))
    made = convert_imageset(root, entries, database, options, _annotated(look), SOURCE)
    names = label_map.shown_names(classes)
    if names and min(names) >= 0 and max(names) < MOST_NAMED:
        write_labels(database, [names.get(i, str(i)) for i in range(max(names) + 1)])
    return made, names


def read_pairs(path: str) -> list[Entry]:
    """The lines of a list for detection: an image and its annotation file.

    Raises:
        FileError: the list is empty, or a line has another number of paths.
    """
    text = read_bytes(path).decode(errors="surrogateescape")
    out: list[Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) not in (0, 2):
            raise FileError(
                f"{path}:{number}: expected the path of an image and of its annotations, without "
                f"spaces in them; found {len(words)} words: {line!r}"
            )
        out += [(words[0], words[1])] if words else []
    if not out:
        raise FileError(f"{path}: lists no images")
    return out


# -- where annotations come from -------------------------------------------------------------------


def _files(root: str, label_type: str, labels: Mapping[str, int]) -> Look:
    """Annotations in a file for each image (of MOT, for each sequence)."""
    read = READERS[label_type]

    def look(image: str, file: str, size: tuple[int, int]) -> tuple[Boxes, list[str]]:
        path = root + file
        if not os.path.exists(path):  # SSD takes the image for one without objects, in silence
            return in_parts(path, Annotated(), size, {})[0], [f"{path}: is not there: no boxes"]
        return in_parts(path, read(path, image), size, labels)

    return look


def _whole_coco(path: str, coco: Json, labels: Mapping[str, int]) -> tuple[list[Entry], Look]:
    """The images of COCO's file, and their annotations by the image's id."""
    by_image: dict[Json, list[Json]] = {}
    problem = 'is not a file of COCO with "images" and "annotations"'
    with reading(path, problem):
        entries = [(str(image["file_name"]), image) for image in coco["images"]]
        for found in coco["annotations"]:
            by_image.setdefault(found["image_id"], []).append(found)
    if not entries:
        raise FileError(f"{path}: lists no images")

    def look(image: str, entry: Facts, size: tuple[int, int]) -> tuple[Boxes, list[str]]:
        objects = [coco_object(path, found) for found in by_image.get(entry.get("id"), [])]
        return in_parts(path, Annotated(objects, coco_size(path, entry)), size, labels)

    return entries, look


# -- one image -------------------------------------------------------------------------------------


def _classified(path: str, label: int, encoding: str, options: ImagesetOptions) -> Record:
    """An AnnotatedDatum of a Datum alone, which has the label."""
    datum, values = _datum(read(path, options), path, label, encoding, options)
    return Record(head(1, len(datum)) + datum, values, [label])


def _annotated(look: Look) -> Make:
    def make(path: str, about: About, encoding: str, options: ImagesetOptions) -> Record:
        image = read(path, options)
        datum, values = _datum(image, path, NO_LABEL, encoding, options)
        try:
            boxes, notes = look(path, about, (image.shape[0], image.shape[1]))
        except FileError as e:  # of annotations, not of the image: nothing can be left out
            raise Stop(str(e)) from e
        labels = boxes[:, LABEL].astype(int).tolist()
        return Record(write_annotated(datum, boxes), values, labels, notes)

    return make


def _datum(
    image: Pixels, path: str, label: int, encoding: str, options: ImagesetOptions
) -> tuple[bytes, int]:
    """The bytes of a Datum, which tells its size also if it is encoded, and its values."""
    datum = image_datum(image, path, label, encoding, options)
    if datum.encoded:
        _, (_, datum.height, datum.width) = encoded_shape(datum.data)
        datum.channels = image.shape[2]
    return datum.SerializeToString(), len(datum.data)
