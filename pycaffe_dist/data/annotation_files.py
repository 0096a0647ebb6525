"""Files that tell where objects are in images: VOC's XML, COCO's JSON, plain text, MOT's tables.

Each reader gives what the file says, in pixels; :func:`in_parts` makes the rows of a record of it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from pycaffe_dist.aliases import Facts, Json
from pycaffe_dist.data.annotations import Boxes
from pycaffe_dist.errors import FileError
from pycaffe_dist.files import read_bytes, reading
from pycaffe_dist.proto.suggest import did_you_mean

Size = tuple[float, float]  # height, width


@dataclass
class Object:
    """One object: its class by name or number, its box (xmin, ymin, xmax, ymax) in pixels."""

    kind: str
    corners: tuple[float, ...]
    difficult: bool = False
    instance: int | None = None  # None: counted within the class
    numbered: bool = False  # kind may be the label itself
    where: str = ""  # file:line, where a file has lines


@dataclass
class Annotated:
    """The objects of an image, and its size if the file tells it."""

    objects: list[Object] = field(default_factory=list)
    size: Size | None = None


# -- VOC -------------------------------------------------------------------------------------------


def read_voc(path: str) -> Annotated:
    """The objects of a VOC file: ``annotation/object``, each with ``name``, ``bndbox`` and perhaps
    ``difficult``, in any order.

    A file with a document type is refused, as its entities could grow without an end.

    Raises:
        FileError: it is not such a file.
    """
    root = _parse_xml(path)
    if root.tag != "annotation":
        raise FileError(f"{path}: expected <annotation> at the top, found <{root.tag}>")
    height, width = (root.findtext(f"size/{side}") for side in ("height", "width"))
    out = Annotated()
    if height and width:
        out.size = _number(path, "height", height), _number(path, "width", width)
    for one in root.findall("object"):
        name, box = one.findtext("name"), one.find("bndbox")
        if name is None or box is None:
            raise FileError(f"{path}: an <object> needs a <name> and a <bndbox>")
        corners = tuple(
            _number(path, side, box.findtext(side)) for side in ("xmin", "ymin", "xmax", "ymax")
        )
        difficult = (one.findtext("difficult") or "").strip() == "1"
        out.objects.append(Object(name.strip(), corners, difficult))
    return out


def _parse_xml(path: str) -> Element:
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data

    def refuse(*_: object) -> None:
        raise FileError(f"{path}: has a document type (<!DOCTYPE), which annotations do not need")

    parser.StartDoctypeDeclHandler = refuse
    text = read_bytes(path)
    with reading(path, "is not XML"):
        parser.Parse(text, True)
        return builder.close()


def _number(path: str, name: str, text: Json) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise FileError(f"{path}: {name} is {text!r}, expected a number")
    return value


# -- COCO ------------------------------------------------------------------------------------------


def read_coco(path: str) -> Annotated:
    """The objects of one image as SSD's scripts cut them out of COCO: ``image``, ``annotation``.

    Raises:
        FileError: it is not such a file.
    """
    found = read_json(path)
    image = found.get("image", {}) if isinstance(found, dict) else None
    if not isinstance(image, dict) or not isinstance(found.get("annotation"), list):
        raise FileError(
            f'{path}: expected an object with "image" and a list "annotation". A file of all '
            "images of COCO is given in place of the list of images."
        )
    return Annotated([coco_object(path, o) for o in found["annotation"]], coco_size(path, image))


def read_json(path: str) -> Json:
    text = read_bytes(path)
    with reading(path, "is not JSON"):
        return json.loads(text)


def coco_size(path: str, image: Facts) -> Size | None:
    if "height" not in image or "width" not in image:
        return None
    return _number(path, "height", image["height"]), _number(path, "width", image["width"])


def coco_object(path: str, found: Json) -> Object:
    """An entry of ``annotations``: category_id, bbox (x, y, width, height), perhaps iscrowd."""
    box = found.get("bbox") if isinstance(found, dict) else None
    if not isinstance(box, list) or len(box) != 4 or "category_id" not in found:
        raise FileError(
            f"{path}: an annotation needs a category_id and a bbox of 4 numbers, found "
            f"{str(found)[:100]}"
        )
    # As SSD adds them up: in 32 bits.
    x, y, *size = (np.float32(_number(path, "a bbox's number", value)) for value in box)
    corners = float(x), float(y), float(x + size[0]), float(y + size[1])
    return Object(str(found["category_id"]), corners, found.get("iscrowd") == 1)


# -- text ------------------------------------------------------------------------------------------


def read_txt(path: str) -> Annotated:
    """Lines of ``label xmin ymin xmax ymax``, in pixels.

    Raises:
        FileError: a line is something else.
    """
    return Annotated(
        [
            Object(words[0], _corners(where, words[1:]), numbered=True, where=where)
            for where, words in _lines(path, 5, 5, None)
        ]
    )


def read_mot(path: str, image: str) -> Annotated:
    """The objects of one frame of a sequence of the MOT benchmark; the frame is the last number in
    the image's name.

    Lines: ``frame, track, left, top, width, height[, considered[, class[, visibility]]]``; pixels
    are counted from 1, classes are 1 where there are none.  What is not to be considered (0) is
    difficult; the track is the instance.

    Raises:
        FileError: a line is something else, or the image's name has no number.
    """
    numbers = re.findall(r"\d+", os.path.splitext(os.path.basename(image))[0])
    if not numbers:
        raise FileError(f"{image}: its name needs the number of its frame in {path}")
    return Annotated(list(_frames(path).get(int(numbers[-1]), [])))


@lru_cache(maxsize=8)  # the images of a sequence follow each other
def _frames(path: str) -> dict[int, list[Object]]:
    frames: dict[int, list[Object]] = {}
    for where, words in _lines(path, 6, 10, ","):
        left, top, width, height = _corners(where, words[2:6])
        frame, track = (int(_number(where, "a number", word)) for word in words[:2])
        considered = len(words) < 7 or _number(where, "the flag", words[6]) != 0
        kind = words[7] if len(words) > 7 else "1"
        box = left - 1, top - 1, left - 1 + width, top - 1 + height
        frames.setdefault(frame, []).append(Object(kind, box, not considered, track, True, where))
    return frames


def _lines(path: str, least: int, most: int, separator: str | None) -> list[tuple[str, list[str]]]:
    """``file:line`` and the words of each line that has any."""
    out = []
    text = read_bytes(path).decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        words = [word.strip() for word in line.split(separator)]
        if not line.strip():
            continue
        if not least <= len(words) <= most:
            raise FileError(
                f"{path}:{number}: expected {least if least == most else f'{least} to {most}'} "
                f"values, found {len(words)}: {line!r}"
            )
        out.append((f"{path}:{number}", words))
    return out


def _corners(where: str, words: list[str]) -> tuple[float, ...]:
    return tuple(_number(where, "a corner", word) for word in words)


# -- to rows ---------------------------------------------------------------------------------------

# By label_type; each takes an annotation file, and the image that it is for.
READERS: dict[str, Callable[[str, str], Annotated]] = {
    "xml": lambda path, image: read_voc(path),
    "json": lambda path, image: read_coco(path),
    "txt": lambda path, image: read_txt(path),
    "mot": read_mot,
}


def in_parts(
    path: str, found: Annotated, size: Size, labels: Mapping[str, int]
) -> tuple[Boxes, list[str]]:
    """The rows of a record, in parts of the image, and what is odd about them.

    As in SSD, boxes count in the size that the file tells, and are kept as they are where they
    reach out of it or have their corners swapped.

    Args:
        path: of the file.
        found: what it has.
        size: the image's.
        labels: of the classes' names.

    Raises:
        FileError: a class is unknown, or the image has no size.
    """
    height, width = found.size or size
    notes = []
    if (height, width) != size:
        notes.append(
            f"{path}: says {height:g} × {width:g} pixels, the image has {size[0]:g} × {size[1]:g}"
        )
    if height <= 0 or width <= 0:
        raise FileError(f"{path}: {height:g} × {width:g} is no size of an image")
    sides = np.array([width, height] * 2, np.float32)
    rows = np.zeros((len(found.objects), 7), np.float32)
    counts: dict[int, int] = {}
    for row, one in zip(rows, found.objects, strict=True):
        label = _label(one.where or path, one, labels)
        instance = counts.get(label, 0) if one.instance is None else one.instance
        counts[label] = instance + 1
        corners = np.array(one.corners, np.float32)
        row[:2], row[2:6], row[6] = (label, instance), corners / sides, one.difficult
        if (corners < 0).any() or (corners > sides).any():
            notes.append(f"{one.where or path}: a box of {one.kind!r} reaches out of the image")
        if (corners[2:] < corners[:2]).any():
            notes.append(f"{one.where or path}: a box of {one.kind!r} has its corners swapped")
    return rows, notes


def _label(where: str, one: Object, labels: Mapping[str, int]) -> int:
    kind = one.kind
    if one.numbered and re.fullmatch(r"\d{1,9}", kind):
        if not labels or int(kind) in labels.values():
            return int(kind)
    elif kind in labels:
        return labels[kind]
    raise FileError(
        f"{where}: the class {kind!r} is not among the {len(labels)} of the label map"
        f"{did_you_mean(kind, labels)}"
    )
