"""What is in images, and what a detector says is in them, from the files of several benchmarks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pycaffe_dist.aliases import Array, Json
from pycaffe_dist.data.annotation_files import Annotated, coco_object, in_parts, read_json, read_voc
from pycaffe_dist.data.annotations import CORNERS, DIFFICULT, LABEL, parse_annotated
from pycaffe_dist.data.database import kind_of, records_of
from pycaffe_dist.data.datum import datum_pixels, parse_datum
from pycaffe_dist.data.encoded import encoded_shape
from pycaffe_dist.data.image import Color, Pixels
from pycaffe_dist.data.source import key_text
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes, reading
from pycaffe_dist.proto.caffe_pb2 import Datum, LabelMap
from pycaffe_dist.tools.create_label_map import coco_label_map

Objects = dict[str, Array]  # by image: rows of 6, see average_precision


def image_name(path: str) -> str:
    """What benchmarks call an image: its file's name without folder and ending; a number as such.

    So ``img/000012.jpg``, ``000012`` and COCO's 12 are one image.
    """
    stem = os.path.splitext(os.path.basename(path))[0]
    return str(int(stem)) if stem.isascii() and stem.isdigit() else stem


# -- the truth -------------------------------------------------------------------------------------


class Database:
    """A database of AnnotatedDatum, image by image: name, Datum, rows of the truth in pixels."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.kind = kind_of(path)

    def __iter__(self) -> Iterator[tuple[str, Datum, Array]]:
        for key, value in records_of(self.path, self.kind):
            try:
                data, boxes = parse_annotated(value)
                if boxes is None:
                    raise ValueError("has a label, not boxes: it was made for classification")
                datum = parse_datum(data)
                height, width = _size(datum)
            except ValueError as e:
                raise FileError(f"{self.path}: the record {key_text(key)} {e}") from e
            rows = np.zeros((len(boxes), 6))
            rows[:, 0], rows[:, 5] = boxes[:, LABEL], boxes[:, DIFFICULT]
            rows[:, 1:5] = boxes[:, CORNERS].astype(float) * (width, height, width, height)
            name = key.decode(errors="replace").partition("_")[2]
            yield image_name(name or key_text(key)), datum, rows

    def pixels(self, datum: Datum, color: Color) -> Pixels:
        with reading(self.path, "has a record that is not an image"):
            return datum_pixels(datum, color).transpose(1, 2, 0)


def _size(datum: Datum) -> tuple[int, int]:
    if datum.encoded:
        return encoded_shape(datum.data)[1][1:]
    return datum.height, datum.width


def read_truth(path: str, classes: LabelMap) -> tuple[Objects, LabelMap]:
    """The objects of a database, of COCO's .json or of a folder of VOC's .xml, and their classes.

    Raises:
        FileError: it is none of these, or two images have one name.
    """
    if path.endswith(".json"):
        coco = read_json(path)
        classes = classes if classes.item else coco_label_map(path, coco)
        return _coco_truth(path, coco, _labels(classes)), classes
    files = sorted(os.listdir(path)) if os.path.isdir(path) else []
    xml = [os.path.join(path, name) for name in files if name.endswith(".xml")]
    found: Objects = {}
    for name, rows in _voc(xml, classes) if xml else ((n, r) for n, _, r in Database(path)):
        if name in found:
            raise FileError(f"{path}: there are two images {name!r}")
        found[name] = rows
    return found, classes


def _voc(files: Sequence[str], classes: LabelMap) -> Iterator[tuple[str, Array]]:
    if not classes.item:
        raise FileError(f"{files[0]}: VOC's files name classes: give a label map")
    for path in files:
        yield image_name(path), _rows(path, read_voc(path), _labels(classes))


def _coco_truth(path: str, coco: Json, labels: Mapping[str, int]) -> Objects:
    with reading(path, 'is not a file of COCO with "images" and "annotations"'):
        names = {image["id"]: image_name(str(image["id"])) for image in coco["images"]}
        found: dict[int, list[Json]] = {number: [] for number in names}
        for one in coco["annotations"]:
            found[one["image_id"]].append(one)
    return {
        names[number]: _rows(path, Annotated([coco_object(path, one) for one in ones]), labels)
        for number, ones in found.items()
    }


def _rows(path: str, found: Annotated, labels: Mapping[str, int]) -> Array:
    """Label, corners in pixels, difficult."""
    found.size = None
    boxes, _ = in_parts(path, found, (1, 1), labels)  # an image of one pixel: parts are pixels
    return boxes[:, [0, 2, 3, 4, 5, 6]].astype(float)


def _labels(classes: LabelMap) -> dict[str, int]:
    """By the names of annotation files, and by those that people use."""
    shown = {item.display_name: item.label for item in classes.item if item.display_name}
    return {**shown, **{item.name: item.label for item in classes.item}}


# -- results ---------------------------------------------------------------------------------------


Row = tuple[float, ...]  # label, score, corners


def read_results(paths: Sequence[str], classes: LabelMap) -> Objects:
    """Detections: rows of label, score and corners in pixels, by image.

    A .json is COCO's list of results, or what ``pcd detect --ssd`` writes; a .txt VOC's results of
    one class, whose name its own ends in: lines of ``image score xmin ymin xmax ymax``.

    Raises:
        FileError: a file is none of these, or has an unknown class.
    """
    labels = _labels(classes)
    found: dict[str, list[Row]] = {}
    for path in paths:
        read = _json_results if path.endswith(".json") else _voc_results
        for image, row in read(path, labels):
            found.setdefault(image_name(image), []).append(row)
    return {image: np.array(rows, float) for image, rows in found.items()}


def _voc_results(path: str, labels: Mapping[str, int]) -> Iterator[tuple[str, Row]]:
    stem = os.path.splitext(os.path.basename(path))[0]
    ends = [name for name in labels if stem == name or stem.endswith(f"_{name}")]
    if not ends:
        raise FileError(f"{path}: its name ends in none of the {len(labels)} classes")
    label = labels[max(ends, key=len)]
    text = read_bytes(path).decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        image, *values = line.split() or [""]
        if not image:
            continue
        try:
            score, *corners = map(float, values)
        except ValueError:
            corners = []
        if len(corners) != 4:
            raise FileError(
                f'{path}:{number}: expected "image score xmin ymin xmax ymax", found {line!r}'
            )
        yield image, (label, score, *corners)


def _json_results(path: str, labels: Mapping[str, int]) -> Iterator[tuple[str, Row]]:
    for entry in _list(path, read_json(path)):
        if isinstance(entry, dict) and "detections" in entry:
            for one in _list(path, entry["detections"]):
                with reading(path, f"is not a result of pcd detect: {str(one)[:100]}"):
                    x1, y1, x2, y2 = map(float, one["box"])
                    row = int(one["class"]), float(one["score"]), x1, y1, x2, y2
                yield str(entry.get("input")), row
            continue
        one = coco_object(path, entry)
        with reading(path, f"has a result without image_id or score: {str(entry)[:100]}"):
            image, score = str(entry["image_id"]), float(entry["score"])
        if one.kind not in labels:
            raise FileError(
                f"{path}: the category {one.kind!r} is not among the {len(labels)} known"
            )
        yield image, (labels[one.kind], score, *one.corners)


def _list(path: str, found: Json) -> list[Json]:
    if not isinstance(found, list):
        raise FileError(f"{path}: expected a list of results, found {str(found)[:100]}")
    return found
